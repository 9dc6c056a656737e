/** Runs the expected actions of a domain's tasks as turns, and kills TempoClaw's processes at random the whole time. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { PARTS, type Part, type RunningTempoclaw, startTempoclaw } from '../league/tempoclaw.ts';
import { startWorld, type World } from '../league/world.ts';
import type { Outcome } from '../league/trial.ts';
import { type Domain, startService, type Task, type TaskEnd, type TauService } from './service.ts';
import type { TauResult } from './report.ts';
import type { Mode } from './tau-tool.ts';

const AT_ONCE = 12;
/** A turn has so long, over all kills. */
const TURN_MS = 30 * 60_000;
/** The time from a start to the next kill is at least this. */
const MIN_PAUSE_MS = 1_000;
/** What each kill meets: the worker most often. */
const VICTIMS: readonly (readonly Part[])[] = [
  ['worker'],
  ['worker'],
  ['host'],
  ['api'],
  ['worker', 'host'],
  PARTS,
];
const RESULT_CHARS = 300;

const page = <Item extends z.ZodType>(item: Item) => z.object({ data: z.array(item) });
const turns = page(z.object({ id: z.string(), status: z.string() }));
const toolCalls = page(
  z.object({
    id: z.string(),
    tool: z.string(),
    code: z.string().nullable(),
    text: z.string().nullable(),
    whole: z.boolean(),
  }),
);

export interface TauOptions {
  readonly domain: Domain;
  readonly mode: Mode;
  /** The tasks with the most calls; all without it. */
  readonly limit?: number | undefined;
  /** The longest time from a start to the next kill. */
  readonly killMs: number;
  /** The longest time that a write takes before its effect, and after it. */
  readonly delayMs: number;
  readonly log: (words: string) => void;
  /** Ends what runs, for a signal. */
  readonly onStart?: (stop: () => Promise<void>) => void;
}

/** Needs a Python and, at its first run, PyPI. */
export async function runDomain(options: TauOptions): Promise<TauResult> {
  const { domain, mode, log } = options;
  const stateDir = await mkdtemp(join(tmpdir(), 'tempoclaw-tau2-'));
  // As root, Postgres runs as another user and must be able to enter the folder.
  await chmod(stateDir, 0o711);
  const open: (() => Promise<void>)[] = [() => rm(stateDir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (let end = open.pop(); end; end = open.pop()) await end();
  };
  options.onStart?.(stop);
  try {
    const world = await startWorld();
    open.push(() => world.close());
    const service = await startService(domain, { stateDir, delayMs: options.delayMs });
    open.push(() => service.stop());
    const tasks = select(await service.tasks(), options.limit);
    log(`${domain}, ${mode}: ${tasks.length} tasks`);
    const running = await startTempoclaw({
      worldUrl: world.url,
      stateDir,
      log,
      tools: await writeTools(service, mode, stateDir),
      agent: { key: 'clerk', type: 'open', model: 'rehearsal/follow', limits: { iterations: 100 } },
      env: {},
    });
    open.push(() => running.stop());
    const began = performance.now();
    const { ends, kills } = await runKilled({ running, world, service }, tasks, options);
    const minutes = Math.round((performance.now() - began) / 6_000) / 10;
    return { domain, mode, kills, minutes, ...(await judgeAll(running, world, tasks, ends)) };
  } finally {
    await stop();
  }
}

function select(tasks: readonly Task[], limit: number | undefined): readonly Task[] {
  if (limit === undefined) return tasks;
  return tasks.toSorted((a, b) => b.calls.length - a.calls.length).slice(0, limit);
}

/** Returns the folder with `tools/`, which has a file for each tool. */
async function writeTools(service: TauService, mode: Mode, stateDir: string): Promise<string> {
  const folder = join(stateDir, 'domain');
  await mkdir(join(folder, 'tools'), { recursive: true });
  const from = JSON.stringify(join(import.meta.dirname, 'tau-tool.ts'));
  for (const tool of await service.tools()) {
    const args = [service.url, mode, tool].map((one) => JSON.stringify(one)).join(', ');
    const text = `import { tauTool } from ${from};\nexport default tauTool(${args});\n`;
    await writeFile(join(folder, 'tools', `${tool.name}.ts`), text);
  }
  return folder;
}

/** The message that makes the model `rehearsal/follow` make these calls, one a step. */
function messageOf(calls: Task['calls']): string {
  const steps = calls.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`);
  return [...steps, 'That was all.'].join('\nthen\n');
}

interface Place {
  readonly running: RunningTempoclaw;
  readonly world: World;
  readonly service: TauService;
}

async function runKilled(
  { running, world, service }: Place,
  tasks: readonly Task[],
  { killMs, log }: TauOptions,
): Promise<{ ends: ReadonlyMap<string, TaskEnd>; kills: Record<Part, number> }> {
  const kills = { api: 0, worker: 0, host: 0 };
  const ends = new Map<string, TaskEnd>();
  const queue = [...tasks];
  const lane = async (): Promise<void> => {
    for (let task = queue.shift(); task; task = queue.shift()) {
      world.expect(task.id);
      await running.begin(task.id, messageOf(task.calls));
      await world.answered(task.id, TURN_MS);
      ends.set(task.id, await service.end(task.id));
    }
  };
  const ended = new AbortController();
  const lanes = Promise.all(Array.from({ length: AT_ONCE }, lane)).finally(() => ended.abort());
  // It is awaited at the end; until then a failure only ends the kills.
  lanes.catch(() => undefined);
  for (;;) {
    const pause = MIN_PAUSE_MS + Math.random() * Math.max(0, killMs - MIN_PAUSE_MS);
    await sleep(pause, undefined, { signal: ended.signal }).catch(() => undefined);
    if (ended.signal.aborted) {
      await lanes;
      return { ends, kills };
    }
    const victims = VICTIMS[Math.floor(Math.random() * VICTIMS.length)] ?? PARTS;
    for (const name of victims) kills[name] += 1;
    await running.killAndRestart(victims);
    log(`killed ${victims.join(', ')}; ${ends.size} of ${tasks.length} tasks have ended`);
  }
}

interface Judged {
  readonly outcome: Outcome;
  readonly unknown: number;
  readonly otherwise: number;
  readonly example: string;
}

async function judgeAll(
  running: RunningTempoclaw,
  world: World,
  tasks: readonly Task[],
  ends: ReadonlyMap<string, TaskEnd>,
): Promise<Omit<TauResult, 'domain' | 'mode' | 'kills' | 'minutes'>> {
  const outcomes: Partial<Record<Outcome, number>> = {};
  const judged: Judged[] = [];
  for (const { id } of tasks) {
    const end = ends.get(id);
    if (!end) throw new Error(`the task ${id} has not been compared`);
    const one = await judge(running, id, end, world.seen(id).answers[0]?.ok === true);
    outcomes[one.outcome] = (outcomes[one.outcome] ?? 0) + 1;
    judged.push(one);
  }
  const all = [...ends.values()];
  const sum = <One>(list: readonly One[], of: (one: One) => number): number =>
    list.reduce((total, one) => total + of(one), 0);
  return {
    n: tasks.length,
    calls: sum(tasks, ({ calls }) => calls.length),
    writes: sum(all, ({ expected }) => expected),
    outcomes,
    equal: all.filter(({ equal }) => equal).length,
    doubled: sum(all, ({ doubled }) => doubled),
    lost: sum(all, ({ lost }) => lost),
    unknown: sum(judged, ({ unknown }) => unknown),
    otherwise: sum(judged, ({ otherwise }) => otherwise),
    found: sum(all, ({ found }) => found),
    notFound: sum(all, ({ not_found }) => not_found),
    examples: judged.flatMap(({ outcome, example }) => (outcome === 'right' ? [] : [example])),
  };
}

async function judge(
  running: RunningTempoclaw,
  id: string,
  end: TaskEnd,
  isCompleted: boolean,
): Promise<Judged> {
  const [turn] = turns.parse(JSON.parse(await running.get(`/v1/sessions/${id}/turns`))).data;
  const calls = turn
    ? toolCalls.parse(JSON.parse(await running.get(`/v1/turns/${turn.id}/tool-calls`))).data
    : [];
  const read: string[] = [];
  for (const call of calls)
    read.push(call.whole ? await running.get(`/v1/tool-calls/${call.id}/result`) : (call.text ?? ''));
  const differing = end.texts.flatMap((text, at) => (read[at] === text ? [] : [at]));
  const unknown = calls.filter(({ code }) => code === 'OutcomeUnknown').length;
  const [first] = differing;
  const outcome = outcomeOf(end, { isCompleted, unknown, otherwise: differing.length });
  const words =
    first === undefined
      ? ''
      : `: call ${first} (${calls[first]?.tool ?? 'missing'}) gave ${read[first]?.slice(0, RESULT_CHARS) ?? 'nothing'}`;
  return { outcome, unknown, otherwise: differing.length, example: `${id} ${outcome}${words}` };
}

/** The worst that happened to a task. */
function outcomeOf(
  end: TaskEnd,
  turn: { readonly isCompleted: boolean; readonly unknown: number; readonly otherwise: number },
): Outcome {
  if (end.doubled > 0) return 'doubled';
  if (!turn.isCompleted) return 'failed';
  if (turn.unknown > 0) return 'unknown';
  return end.equal && end.lost === 0 && turn.otherwise === 0 ? 'right' : 'lost';
}
