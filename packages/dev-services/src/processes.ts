/** Child processes, their identity and what they leave on disk: exports of the package that load no client. */
export { type Child, type ChildOptions, type Exit, startChild, waitUntil } from './child.ts';
export { endLeftovers, LeftoverError, type LeftoverPart } from './end-leftovers.ts';
export { followLog, readLogTail } from './log-tail.ts';
export { type NodeProgramOptions, startNodeProgram } from './node-program.ts';
export { createParts, type Parts } from './parts.ts';
export {
  isPortFree,
  isPortOpen,
  listeningPorts,
  localHost,
  nextFreePort,
  portOf,
  portWords,
  settledPorts,
} from './ports.ts';
export {
  commandLineOf,
  isSameProcess,
  markProcess,
  type ProcessMark,
  startTime,
} from './process-identity.ts';
export { readRunInfo, type RunFolder, type RunInfo, takeRunFolder } from './run-folder.ts';
export { lockHolder, releaseLock, takeLock } from './state-lock.ts';
export { type Supervised, supervise, type SuperviseOptions } from './supervise.ts';
