/**
 * Runs a command in a container, otherwise in bubblewrap, otherwise on the host, as its settings permit. A command that
 * must run in a container never runs anywhere else.
 */
import { fileURLToPath } from 'node:url';
import {
  type BackgroundLine,
  type BoxRequest,
  type CommandOutcome,
  type CommandRequest,
  notStarted,
  type Shell,
  shellProgram,
} from '../shell.ts';
import { GRACE_MS } from '../kill-tree.ts';
import { quoteWord } from '../quote-word.ts';
import { boundPrefix, type CommandBounds } from '../wall.ts';
import type { AttachedCommand } from './attach.ts';
import type { Boxes } from './boxes.ts';
import type { Bubblewrap } from '../bubblewrap.ts';
import { EngineProblem } from './engine.ts';
import type { EngineProbe } from './probe-engine.ts';
import { type LineRequest, NotStarted, runInBox } from './run-in-box.ts';
import { type BoxSettings, MOUNT } from '../settings/settings.ts';

export interface BoxedShellOptions {
  readonly host: Shell;
  readonly boxes: Boxes;
  readonly bubblewrap: Bubblewrap;
  /** Identifies this worker among all on the engine's machine. */
  readonly worker: string;
  readonly graceMs?: number;
  /** Bytes of a workspace on disk; memory and processes are limited by the sandbox's settings. */
  readonly diskBytes: number;
  /** Names of the settings that limit bubblewrap, for messages. */
  readonly boundNames: CommandBounds['settings'];
}

const ATTACH = fileURLToPath(new URL('./attach.ts', import.meta.url));

/**
 * The program that represents a command asks a busy engine to end it; this covers its grace period and some retries.
 */
const ATTACHED_GRACE_MS = 8_000;

/** Linux permits 128 KiB in one argument. */
const MAX_LINE = 130_000;

/** A container that ended between two commands is created again; one that ends repeatedly is reported. */
const TRIES = 3;

export function createBoxedShell(options: BoxedShellOptions): Shell {
  const { host, boxes, bubblewrap } = options;

  const inBox = async (
    request: LineRequest,
    box: BoxRequest,
    probe: Extract<EngineProbe, { ok: true }>,
  ): Promise<CommandOutcome> => {
    for (let tries = 1; ; tries += 1) {
      const name = await boxes.obtain(box.owner, box.sandbox, probe);
      try {
        const run = {
          box: name,
          cwd: cwdOf(box.inside),
          timeoutMs: box.timeoutMs,
          graceMs: options.graceMs ?? GRACE_MS,
          worker: options.worker,
        };
        return await runInBox(boxes, run, request);
      } catch (error) {
        boxes.forget(name);
        if (!(error instanceof NotStarted) || tries >= TRIES) throw error;
      }
    }
  };

  /** Where a command without a container runs, with a note for the caller; undefined when it requires a container. */
  const elsewhere = async ({ sandbox, owner, inside }: BoxRequest, reason: string) => {
    if (sandbox.mode === 'required') return undefined;
    const isBubbled = await bubblewrap.works();
    const where = isBubbled ? 'in bubblewrap instead of a container' : 'on the host, not in a sandbox';
    const bubbled = async (): Promise<readonly string[]> => [
      ...bubblewrapBounds(options, sandbox, owner.workspace),
      ...(await bubblewrap.prefix(owner.workspace, inside, sandbox)),
    ];
    return {
      prefix: isBubbled ? await bubbled() : undefined,
      note: sandbox.stated ? { note: `runs ${where}: ${reason}` } : {},
    };
  };

  const runElsewhere = async (
    request: CommandRequest,
    box: BoxRequest,
    reason: string,
  ): Promise<CommandOutcome> => {
    const place = await elsewhere(box, reason);
    if (!place) return notStarted('unboxed', reason);
    return { ...(await host.run({ ...request, prefix: place.prefix })), ...place.note };
  };

  return {
    async run(request) {
      const { box } = request;
      const { command } = request;
      if (box === undefined) return host.run(request);
      if (typeof command !== 'string') return notStarted('unboxed', 'only a command line can run in a box');
      if (box.sandbox.workspace === 'none' && box.inside !== '')
        return notStarted(
          'unstarted',
          'its folder is not seen from the sandbox, which has none of the workspace',
        );
      const probe = await boxes.probe(box.sandbox);
      if (!probe.ok) return runElsewhere(request, box, probe.reason);
      if (box.sandbox.mode === 'required' && box.sandbox.runtime !== probe.runtime)
        return notStarted('unboxed', `the engine has no runtime ${box.sandbox.runtime}`);
      try {
        const outcome = await inBox({ ...request, command }, box, probe);
        return box.sandbox.runtime === probe.runtime || !box.sandbox.stated
          ? outcome
          : { ...outcome, note: `the engine has no runtime ${box.sandbox.runtime}; its usual one was used` };
      } catch (error) {
        // Thrown only while the command has certainly not started.
        if (!(error instanceof EngineProblem || error instanceof NotStarted)) throw error;
        boxes.lost();
        return runElsewhere(request, box, error.message);
      }
    },

    async backgroundLine(command, folders, box) {
      if (box === undefined) return host.backgroundLine(command, folders, undefined);
      const probe = await boxes.probe(box.sandbox);
      const attached = probe.ok
        ? await attachedLine(boxes, command, box, probe)
        : { ok: false as const, reason: probe.reason };
      const place = attached.ok ? undefined : await elsewhere(box, attached.reason);
      if (!place) return attached;
      const { prefix, note } = place;
      const line: BackgroundLine = prefix
        ? { ok: true, line: `exec ${[...prefix, shellProgram(), '-c', command].map(quoteWord).join(' ')}` }
        : await host.backgroundLine(command, folders, undefined);
      return { ...line, ...note };
    },

    async placeOf(sandbox) {
      if (sandbox === undefined) return host.placeOf(undefined);
      if (sandbox.mode === 'required' || (await boxes.probe(sandbox)).ok) return 'image';
      return (await bubblewrap.works()) ? 'system' : host.placeOf(undefined);
    },

    async workspacePath(workspace, sandbox: BoxSettings | undefined) {
      if (sandbox === undefined) return workspace;
      return (await boxes.probe(sandbox)).ok || (await bubblewrap.works()) || sandbox.mode === 'required'
        ? MOUNT
        : workspace;
    },
  };
}

function bubblewrapBounds(
  { boxes, diskBytes, boundNames }: BoxedShellOptions,
  sandbox: BoxSettings,
  folder: string,
): readonly string[] {
  return boxBounds(boxes.name, sandbox, { disk: diskBytes, folder, settings: boundNames });
}

/** Arguments before bubblewrap, which has no limits of its own. */
export function boxBounds(
  name: string,
  { pids, memoryBytes }: Pick<BoxSettings, 'pids' | 'memoryBytes'>,
  { disk, folder, settings }: Pick<CommandBounds, 'disk' | 'settings'> & { readonly folder: string },
): readonly string[] {
  return boundPrefix({ name, processes: pids, memory: memoryBytes, disk, settings }, [folder]);
}

/**
 * A program of ours that represents the command on the host. `variables`: names of its own variables that the command
 * gets.
 */
export async function attachedLine(
  boxes: Boxes,
  command: string,
  { owner, sandbox, inside }: Omit<BoxRequest, 'timeoutMs'>,
  probe: Extract<EngineProbe, { ok: true }>,
  variables: readonly string[] = [],
): Promise<BackgroundLine> {
  if (sandbox.mode === 'required' && sandbox.runtime !== probe.runtime)
    return { ok: false, reason: `the engine has no runtime ${sandbox.runtime}` };
  try {
    const attachment: AttachedCommand = {
      name: boxes.name,
      dockerHost: boxes.engine.address,
      box: await boxes.obtain(owner, sandbox, probe),
      cwd: cwdOf(inside),
      command,
      variables,
    };
    const argument = Buffer.from(JSON.stringify(attachment)).toString('base64');
    const program = [process.execPath, '--disable-warning=ExperimentalWarning', ATTACH, argument];
    const line = `exec ${program.map(quoteWord).join(' ')}`;
    if (line.length > MAX_LINE)
      return {
        ok: false,
        reason: 'the command is too long for the background; write a script file and run that',
      };
    return { ok: true, line, graceMs: ATTACHED_GRACE_MS };
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    boxes.lost();
    return { ok: false, reason: error.message };
  }
}

function cwdOf(inside: string): string {
  return inside === '' ? MOUNT : `${MOUNT}/${inside}`;
}
