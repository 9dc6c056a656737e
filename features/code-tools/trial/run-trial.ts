/**
 * Tries a tool without an installation: each run and probe is a process, which can be killed at a point. What follows a
 * kill is decided as in an installation (run-on-host.ts).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolResult } from '#domain/tool.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { ActivityOnce, OnceOutcome } from '#temporal/activity-once.ts';
import { HOST_WORK } from '../contract.ts';
import type { LoadedTool } from '../host/load-tools.ts';
import { runOnHost } from '../run-on-host.ts';
import type { KillPoint, TrialWork } from './child.ts';
import { startTrial } from './trial-process.ts';

/** Where the first run is killed: at a point, or so many milliseconds after it has started. */
export type Kill = KillPoint | number;

export interface Trial {
  readonly folder: string;
  readonly tool: Pick<LoadedTool, 'definition'>;
  readonly input: unknown;
  readonly secrets: Readonly<Record<string, string>>;
  readonly kill?: Kill;
}

export interface TrialOutcome {
  /** What the model would read. */
  readonly result: ToolResult;
  /** Runs that were started, and those of them that came to their end. */
  readonly runs: number;
  readonly ended: number;
  readonly probes: number;
  /** Milliseconds of the last run. */
  readonly ms: number;
}

export async function runTrial(trial: Trial): Promise<TrialOutcome> {
  const { definition } = trial.tool;
  const key = crypto.getRandomValues(new Uint8Array(32));
  const counts = { runs: 0, ended: 0, probes: 0, ms: 0 };
  const once = {
    run: async (work: ActivityOnce): Promise<OnceOutcome> => {
      const isRun = work.type === HOST_WORK.run;
      if (isRun) counts.runs += 1;
      else counts.probes += 1;
      const kill = isRun && counts.runs === 1 ? trial.kill : undefined;
      const { result, started, ran } = await inProcess(trial, work, key, kill);
      if (ran !== undefined) counts.ended += 1;
      if (started !== undefined && ran !== undefined) counts.ms = ran - started;
      return result ? { result } : 'unknown';
    },
    cancel: () => Promise.resolve(),
  };
  const row = { id: randomUUID(), host: 'trial', revision: 1, definition };
  const access = { version: 'trial', key, revision: 1 };
  const result = await runOnHost({
    readAccess: () => Promise.resolve(access),
    resolveOf: (_tenant, reference) =>
      Promise.resolve(trial.secrets[reference.slice('secret://'.length)] ?? ''),
    once,
    row,
    input: trial.input,
    call: trialCall(),
  });
  return { result, ...counts };
}

/** The parts of a call that a tool of a host gets. */
function trialCall(): RunningCall {
  const id = randomUUID();
  const call = {
    tenant: 'trial',
    agent: 'trial',
    user: null,
    sessionKey: `trial-${id}`,
    turnId: `turn_${id}`,
    callId: `call_${id}`,
    idempotencyKey: id,
    signal: new AbortController().signal,
  };
  return call as unknown as RunningCall;
}

interface Performed {
  readonly result?: Uint8Array;
  /** When `run` of the tool started and ended; undefined when it did not. */
  readonly started?: number;
  readonly ran?: number;
}

/** Resolves when the process has ended. @throws Error when the tool cannot be loaded */
async function inProcess(
  { folder, tool }: Trial,
  { id, type, request }: ActivityOnce,
  key: Uint8Array,
  kill: Kill | undefined,
): Promise<Performed> {
  const at: { started?: number; ran?: number } = {};
  let result: Uint8Array | undefined;
  let problem: string | undefined;
  const work: TrialWork = {
    folder,
    tool: tool.definition.name,
    type: type as TrialWork['type'],
    id,
    key: Buffer.from(key).toString('base64'),
    request: Buffer.from(request).toString('base64'),
    ...(typeof kill === 'string' && { kill }),
  };
  const trial = startTrial(tool.definition.language, work, (news) => {
    if (news.kind === 'result') result = Buffer.from(news.result, 'base64');
    else if (news.kind === 'problem') problem = news.message;
    else at[news.kind] = performance.now();
    if (news.kind === 'started' && typeof kill === 'number') void sleep(kill).then(() => trial.kill());
  });
  await trial.ended;
  if (problem !== undefined) throw new Error(problem);
  return { ...at, ...(result && { result }) };
}
