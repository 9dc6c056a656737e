/**
 * A shell in the form that a program uses, with containers or without, and a workspace that is removed after the test.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  type BackgroundCommands,
  type Boxes,
  type BoxOwner,
  type Bubblewrap,
  type CommandOutcome,
  createBackgroundCommands,
  createBoxedShell,
  createBoxes,
  createEngine,
  createEngineProber,
  createLauncher,
  createShell,
  ownIdentity,
  type Shell,
  THIS_MACHINE,
} from '@tempoclaw/sandbox';
import { type BoxSettings, commandEnvironment } from '@tempoclaw/sandbox/settings';
import { temporaryFolder } from './folders.ts';
import { box } from './settings.ts';

const launch = createLauncher();

export interface Bench {
  readonly base: string;
  readonly workspace: string;
  readonly owner: BoxOwner;
  readonly shell: Shell;
  readonly background: BackgroundCommands;
  run(
    command: string,
    options?: {
      readonly settings?: BoxSettings;
      readonly timeoutMs?: number;
      readonly signal?: AbortSignal;
      readonly onOutput?: (chunk: Buffer) => void;
    },
  ): Promise<CommandOutcome>;
}

/** The containers of an engine that does not exist, unless a test has one. */
export function noBoxes(): Boxes {
  return boxesAt('unix:///nonesuch/docker.sock', 'none');
}

export function boxesAt(address: string, installation: string): Boxes {
  const engine = createEngine(address);
  return createBoxes({
    name: 'test',
    engine,
    prober: createEngineProber(engine, Date.now, 'the script'),
    installation,
    life: { idleSeconds: 600, maxAgeSeconds: 3_600 },
    now: Date.now,
  });
}

export const NO_BUBBLEWRAP: Bubblewrap = { works: async () => false, prefix: async () => [] };

export async function shellBench(
  t: Pick<TestContext, 'after'>,
  {
    boxes = noBoxes(),
    bubblewrap = NO_BUBBLEWRAP,
  }: { readonly boxes?: Boxes; readonly bubblewrap?: Bubblewrap },
): Promise<Bench> {
  // This comes before the folders by which they are found are removed.
  t.after(() => background.stopOwn());
  const base = await temporaryFolder(t);
  const workspace = join(base, 'workspace');
  await mkdir(workspace);
  const environment = commandEnvironment(process.env);
  const common = { name: 'test', environment, graceMs: 300 };
  const background = createBackgroundCommands({ ...common, dir: join(base, 'processes'), now: Date.now });
  const shell = createBoxedShell({
    host: createShell({ ...common, worker: ownIdentity(), launch }),
    boxes,
    bubblewrap,
    worker: `${THIS_MACHINE}${ownIdentity()}`,
    graceMs: 300,
    diskBytes: 2 ** 27,
    boundNames: { processes: 'box.pids', memory: 'box.memory', disk: 'box.disk' },
  });
  const owner = { key: [base], group: base, workspace };
  return {
    base,
    workspace,
    owner,
    shell,
    background,
    run: (command, { settings = box(), timeoutMs = 60_000, signal, onOutput } = {}) =>
      shell.run({
        command,
        cwd: workspace,
        pwd: workspace,
        folders: [workspace],
        timeoutMs,
        box: { sandbox: settings, owner, inside: '', timeoutMs },
        callId: crypto.randomUUID(),
        signal: signal ?? new AbortController().signal,
        ...(onOutput === undefined ? {} : { onOutput }),
      }),
  };
}

/** The output of both streams, and why it has not run. */
export function textOf({ stdout, stderr, reason = '' }: CommandOutcome): string {
  return `${stdout}${stderr}${reason}`.trim();
}
