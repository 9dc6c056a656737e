/** Confined commands, in bubblewrap and in containers: the public exports of the package. */
export {
  type BackgroundCommands,
  type BackgroundOptions,
  type BackgroundOwner,
  type BackgroundProcess,
  createBackgroundCommands,
  endBackgroundCommands,
  type Started,
  type Watcher,
} from './background/background.ts';
export { BOX_ENVIRONMENT, type BoxLife, type BoxOwner, type BoxSpec } from './box/box-spec.ts';
export { attachedLine, boxBounds, type BoxedShellOptions, createBoxedShell } from './box/boxed-shell.ts';
export { type Boxes, type BoxesOptions, createBoxes } from './box/boxes.ts';
export { type Bubblewrap, createBubblewrap } from './bubblewrap.ts';
export { createEngine, type Engine, EngineProblem } from './box/engine.ts';
export { HOST_LIMITS } from './host-limits.ts';
export { findTree, GRACE_MS, killLeftovers, killTree, type Target } from './kill-tree.ts';
export { createLauncher, type Launched, type Launcher, socketsFolder } from './launcher.ts';
export { type Marks, marksOf } from './marks.ts';
export { createOutputWindow, type OutputWindow, STREAM_BYTES } from './output-window.ts';
export { createEngineProber, type EngineProber, type EngineProbe } from './box/probe-engine.ts';
export {
  commandOf,
  environmentOf,
  identityOf,
  isAlive,
  ownIdentity,
  type ProcessRow,
  processRow,
  processTable,
  residentBytes,
} from './process-table.ts';
export { proveWall, type ProvenWall } from './prove-wall.ts';
export { reapOrphans, THIS_MACHINE } from './reap-orphans.ts';
export { refusedNumber } from './seccomp-filter.ts';
export {
  type BackgroundLine,
  type BoxRequest,
  type CommandOutcome,
  type CommandRequest,
  createShell,
  type Program,
  type Shell,
  type ShellOptions,
  shellProgram,
} from './shell.ts';
export { type CommandBounds, type HostWall, type WallSettings, withoutWall } from './wall.ts';
export { makeTemporaryFolder, makeWorkerFolder, removeLeftFolders } from './worker-folders.ts';
