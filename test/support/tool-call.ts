/** A RunningCall for tests of tools, in a temporary workspace that is removed with the test. */
import { NO_ORIGINS } from '#domain/files/file-origins.ts';
import type { CreateCallReads } from '#activities/tool-call/call-reads.ts';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { createCatalog } from '#policy/catalog.ts';
import type { RunningCall, Tool } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';
import {
  createBackgroundCommands,
  createLauncher,
  ownIdentity,
  THIS_MACHINE,
  createShell,
  type Boxes,
  createBoxedShell,
  type Bubblewrap,
} from '@tempoclaw/sandbox';
import { BOX_BOUNDS, OWN_NAME } from '#activities/process/own-names.ts';
import { type Processes, sessionProcesses } from '#activities/process/session-processes.ts';
import { createFiles } from '#activities/workspace/files.ts';
import type { Files, FilesOptions } from '#activities/workspace/contract.ts';
import type { FileLock } from '#store/files/file-lock.ts';
import type { ToolResult } from '#domain/tool.ts';

const launch = createLauncher();

/** A temporary folder without links in its path, removed after the test. */
export async function temporaryFolder(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tempoclaw-test-')));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return folder;
}

/** A call as run-tool makes it; by default, each has ids of its own. */
export function toolCall(workspace: string, overrides: Partial<RunningCall> = {}): RunningCall {
  const callId = `call_${randomUUID()}`;
  return {
    tenant: 'default',
    agent: 'main',
    user: null,
    sessionKey: 'test',
    turnId: 'turn_test',
    channel: null,
    chatId: null,
    callId,
    workspace,
    calledAs: '',
    signal: new AbortController().signal,
    idempotencyKey: `default/${overrides.callId ?? callId}`,
    progress: () => undefined,
    thinking: undefined,
    offeredTools: async () => [],
    findableTools: async () => [],
    egress: {},
    hasSecret: () => false,
    roles: [],
    readOutside: {},
    exec: { timeoutSeconds: 60, boxTimeoutSeconds: 300 },
    ...overrides,
  };
}

/** For a call that reads nothing which others have written. */
export const NO_READS: CreateCallReads = () => ({
  origins: NO_ORIGINS,
  ofRunFiles: () => Promise.resolve({}),
  noted: (result) => Promise.resolve(result),
});

export interface Bench {
  readonly base: string;
  readonly workspace: string;
  readonly files: Files;
  readonly deps: Pick<ToolDeps, 'files' | 'shell' | 'processes' | 'now'>;
  /** Reads the arguments as the catalog does and runs the tool; a refusal of the arguments is a result too. */
  run(tool: Tool, args: unknown, overrides?: Partial<RunningCall>): Promise<ToolResult>;
}

export interface BenchOptions {
  readonly rules?: FilesOptions['rules'];
  /** Wait between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  readonly deps?: Partial<ToolDeps> & Readonly<Record<string, unknown>>;
  /** Commands of calls that have a sandbox run in these. */
  readonly boxes?: Boxes;
  /** Whether bubblewrap is used if there is no box. */
  readonly bubblewrap?: Bubblewrap;
}

/** A machine without it. If it claims to work, it starts nothing before the command. */
export const NO_BUBBLEWRAP: Bubblewrap = { works: async () => false, prefix: async () => [] };

/** For files that nothing else changes in the meantime. */
export const inTurn: FileLock = (_file, work) => work();

/** The real dependencies of file and command tools, in temporary folders. */
export async function toolBench(t: Pick<TestContext, 'after'>, options: BenchOptions = {}): Promise<Bench> {
  let processes: Processes | undefined;
  // This runs before the folders by which they are found are removed.
  t.after(() => processes?.stopOwn());
  const base = await temporaryFolder(t);
  const workspace = join(base, 'workspace');
  const now = Date.now;
  const files = createFiles({
    journalDir: join(base, 'journal'),
    now,
    lock: inTurn,
    ...(options.rules ? { rules: options.rules } : {}),
  });
  const environment = commandEnvironment(process.env);
  const grace = options.graceMs === undefined ? {} : { graceMs: options.graceMs };
  processes = sessionProcesses(
    createBackgroundCommands({
      name: OWN_NAME,
      dir: join(base, 'processes'),
      environment,
      now,
      ...grace,
    }),
  );
  const host = createShell({ name: OWN_NAME, environment, worker: ownIdentity(), launch, ...grace });
  const { boxes, bubblewrap = NO_BUBBLEWRAP } = options;
  const deps = {
    files,
    now,
    processes,
    shell: boxes
      ? createBoxedShell({
          host,
          boxes,
          bubblewrap,
          worker: `${THIS_MACHINE}${ownIdentity()}`,
          diskBytes: 2 ** 27,
          boundNames: BOX_BOUNDS,
          ...grace,
        })
      : host,
  };
  return {
    base,
    workspace,
    files,
    deps,
    async run(tool, args, overrides = {}) {
      const read = createCatalog([tool]).parse(overrides.calledAs ?? tool.name, args);
      if (!read.ok) return { ok: false, code: read.code, message: read.message };
      return tool.run(
        { ...deps, ...options.deps } as ToolDeps,
        read.input,
        toolCall(workspace, { calledAs: tool.name, ...overrides }),
      );
    },
  };
}
