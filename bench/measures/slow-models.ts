/**
 * Measures turns as users have them: a model that streams its answer over seconds, tools of 50 ms, many turns open at
 * once over HTTP, and what all of it costs while it waits.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BENCH_MCP_SERVER } from '../mcp-servers.ts';
import { type Bench, countOf, manyAtOnce, type Measure, withWorker } from '../measure.ts';
import { cpuMs, residentMb } from '../process-cost.ts';
import { nextFreePort } from '@tempoclaw/dev-services/processes';
import { digits, type Section, spreadOf } from '../report.ts';
import { readMetrics } from '../metrics-text.ts';
import type { ApiProcess } from '../stack.ts';

const CALL_MS = 50;
/** One in so many turns has a reader of its feed. */
const PROBE_EVERY = 10;
/** Seconds that a request waits for the end of its turn. */
const MAX_WAIT = 300;
const WORKER_METRICS_PORT = 19_464;

interface Shape {
  readonly name: string;
  readonly turns: number;
  readonly modelMs: number;
  readonly steps: number;
  /** How long it is counted, after all turns are open. */
  readonly seconds: number;
}

const SHAPES: readonly Shape[] = [
  { name: '100 turns, 3-s model', turns: 100, modelMs: 3_000, steps: 4, seconds: 60 },
  { name: '300 turns, 3-s model', turns: 300, modelMs: 3_000, steps: 4, seconds: 60 },
  { name: '1,000 turns, 30-s model', turns: 1_000, modelMs: 30_000, steps: 3, seconds: 60 },
];
const QUICK: readonly Shape[] = [
  { name: '10 turns, 1-s model', turns: 10, modelMs: 1_000, steps: 2, seconds: 5 },
];

export const slowModels: Measure = async (bench) => {
  const metricsPort = await nextFreePort(WORKER_METRICS_PORT);
  const address = `127.0.0.1:${metricsPort}`;
  const api = await bench.stack.startApi();
  const columns: Readonly<Record<string, string>>[] = [];
  const shapes = bench.quick ? QUICK : SHAPES;
  try {
    await registerMcpServer(api);
    await withWorker(bench, { TEMPOCLAW_WORKER_METRICS: address }, async ({ pid }) => {
      for (const shape of shapes) {
        bench.log(`${shape.name}, ${shape.seconds} s`);
        const load = { bench, api, workerPid: pid, metricsUrl: `http://${address}/metrics` };
        const column = await runShape(load, shape);
        bench.log(JSON.stringify(column));
        columns.push(column);
      }
    });
  } finally {
    await api.stop();
  }
  return sectionOf(shapes, columns);
};

function sectionOf(shapes: readonly Shape[], columns: readonly Readonly<Record<string, string>>[]): Section {
  return {
    name: 'slow-models',
    title: 'Turns of a model that takes seconds',
    how: `Turns over HTTP, each step a streamed answer of 20 pieces and, but the last, a call of an MCP server of ${CALL_MS} ms; as many open at once as the column says, each followed by another. One worker and one API with default settings; the figures are those of a minute in which all turns were open. The first words: a reader of the feed, after the model's server had sent them, in one of ${PROBE_EVERY} turns. A turn over its waits: its time over that of its model and tools alone.`,
    columns: ['', ...shapes.map(({ name }) => name)],
    rows: Object.keys(columns[0] ?? {}).map((row) => [row, ...columns.map((column) => column[row] ?? '')]),
    goals: [],
  };
}

async function registerMcpServer(api: ApiProcess): Promise<void> {
  const made = await fetch(`${api.url}/v1/mcp/servers`, {
    method: 'POST',
    headers: headersOf(api),
    body: JSON.stringify(BENCH_MCP_SERVER),
  });
  if (made.status !== 201 && made.status !== 409)
    throw new Error(`the MCP server was refused: ${await made.text()}`);
}

function headersOf(api: ApiProcess): Record<string, string> {
  return { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' };
}

interface Load {
  readonly bench: Bench;
  readonly api: ApiProcess;
  readonly workerPid: number;
  readonly metricsUrl: string;
}

/** What a run of a shape collects from its turns. */
interface Seen {
  isCounting: boolean;
  isOver: boolean;
  readonly turnMs: number[];
  readonly firstWordsMs: number[];
}

async function runShape(load: Load, shape: Shape): Promise<Record<string, string>> {
  const seen: Seen = { isCounting: false, isOver: false, turnMs: [], firstWordsMs: [] };
  const waitMs = shape.steps * (shape.modelMs + CALL_MS) + shape.modelMs;
  // The starts are spread over one step, so that the turns do not go in step with each other.
  const lanes = Array.from({ length: shape.turns }, (_, index) =>
    sleep((index / shape.turns) * shape.modelMs).then(() => turnsInARow(load, shape, seen, index)),
  );
  const running = Promise.all(lanes);
  await Promise.race([running, sleep(shape.modelMs + 2 * CALL_MS + 5_000)]);
  const before = await counters(load);
  seen.isCounting = true;
  const samples = await sampled(load, shape.seconds);
  const after = await counters(load);
  seen.isCounting = false;
  seen.isOver = true;
  await stopTurns(load);
  await running;
  const seconds = (after.at - before.at) / 1000;
  const perSecond = (of: (counts: Counters) => number | undefined): number =>
    ((of(after) ?? 0) - (of(before) ?? 0)) / seconds;
  const maxOf = (of: (sample: Sample) => number): number => Math.max(...samples.map(of));
  const calls = spreadOf(samples.map(({ modelCalls }) => modelCalls)).median;
  const heartbeats = perSecond(({ heartbeats: count }) => count);
  const cores = (of: (counts: Counters) => number): string => digits(perSecond(of) / 1000);
  return {
    'open model calls, median and most': `${digits(calls)}, ${digits(maxOf(({ modelCalls }) => modelCalls))}`,
    'model calls a second': digits(perSecond(({ steps }) => steps)),
    'turn over its waits, median': ratioText(seen.turnMs, waitMs, 0.5),
    'turn over its waits, p95': ratioText(seen.turnMs, waitMs, 0.95),
    'first words, median ms': percentileText(seen.firstWordsMs, 0.5),
    'first words, p95 ms': percentileText(seen.firstWordsMs, 0.95),
    'heartbeats a second': digits(heartbeats),
    'heartbeats a second for an open model call': digits(heartbeats / calls),
    'workflow tasks a second': digits(perSecond(({ workflowTasks }) => workflowTasks)),
    'requests of Temporal a second': digits(perSecond(({ requests }) => requests)),
    "commits a second of TempoClaw's Postgres": digits(perSecond(({ commits }) => commits)),
    ...(after.temporalCommits !== undefined && {
      "commits a second of Temporal's": digits(perSecond(({ temporalCommits }) => temporalCommits)),
    }),
    'slots of activities in use, most': digits(maxOf(({ slots }) => slots)),
    'cached runs, most': digits(maxOf(({ cached }) => cached)),
    'replays of runs that were not cached, a second': digits(perSecond(({ replays }) => replays)),
    'worker, cores': cores(({ cpu }) => cpu.worker),
    'API, cores': cores(({ cpu }) => cpu.api),
    'Temporal, cores': cores(({ cpu }) => cpu.temporal),
    'both Postgres, cores': cores(({ cpu }) => cpu.postgres),
    'worker, MB': digits(maxOf(({ workerMb }) => workerMb)),
    'API, MB': digits(maxOf(({ apiMb }) => apiMb)),
    'Temporal, MB': digits(maxOf(({ temporalMb }) => temporalMb)),
  };
}

/** Runs turn after turn until the run is over, each in a session of its own. */
async function turnsInARow(load: Load, shape: Shape, seen: Seen, lane: number): Promise<void> {
  while (!seen.isOver) {
    const probe = `p${randomInt(1e9)}`;
    const session = `work-${randomUUID()}`;
    const abort = new AbortController();
    const began = performance.now();
    const turn = runTurn(load, shape, { session, probe });
    const words =
      lane % PROBE_EVERY === 0 ? firstWords(load, session, probe, abort.signal) : Promise.resolve(undefined);
    const firstMs = await Promise.race([words, turn.then(() => undefined)]);
    if (firstMs !== undefined && seen.isCounting) seen.firstWordsMs.push(firstMs);
    const isWhole = await turn;
    abort.abort();
    // A turn that ends while it is counted may have begun before.
    if (isWhole && seen.isCounting) seen.turnMs.push(performance.now() - began);
  }
}

interface TurnAtWork {
  readonly session: string;
  readonly probe: string;
}

/** Awaits the turn's end. Returns whether it completed: a run that is over stops its turns. */
async function runTurn({ api }: Load, shape: Shape, { session, probe }: TurnAtWork): Promise<boolean> {
  const text = `steps=${shape.steps} model_ms=${shape.modelMs} call_ms=${CALL_MS} probe=${probe}`;
  const response = await fetch(`${api.url}/v1/sessions/${session}/messages?wait=${MAX_WAIT}`, {
    method: 'POST',
    headers: headersOf(api),
    body: JSON.stringify({ text, agent: 'bench-work' }),
  });
  const body = (await response.json()) as { status?: string; error?: unknown };
  if (body.status !== 'completed' && body.status !== 'stopped')
    throw new Error(`a turn of ${shape.name}: ${JSON.stringify(body)}`);
  return body.status === 'completed';
}

/** Stops the open turns, many at a time. */
async function stopTurns({ api, bench }: Load): Promise<void> {
  const { rows } = await bench.stack.pool.query<{ session: string }>(
    `select session_key as session from turns where agent_key = 'bench-work' and ended_at is null`,
  );
  await manyAtOnce(rows.length, 16, async (index) => {
    await fetch(`${api.url}/v1/sessions/${rows[index - 1]?.session}/stop`, {
      method: 'POST',
      headers: headersOf(api),
      body: JSON.stringify({ level: 'all' }),
    });
  });
}

/** Milliseconds from when the model's server had sent the first word until a reader of the feed got it. */
async function firstWords(
  load: Load,
  session: string,
  probe: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    let text = '';
    for await (const chunk of await openFeed(load.api, session, signal)) {
      text += Buffer.from(chunk).toString();
      const hasWords = text.includes('event: message.delta');
      if (hasWords) return Date.now() - load.bench.stack.models.firstWordAt(probe);
    }
    return undefined;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Waits until the session exists, which it does once its message is accepted. */
async function openFeed(
  api: ApiProcess,
  session: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  for (;;) {
    const { body, status } = await fetch(`${api.url}/v1/sessions/${session}/events?after=0`, {
      headers: { ...headersOf(api), accept: 'text/event-stream' },
      signal,
    });
    if (status === 200 && body) return body;
    await sleep(50);
  }
}

interface Counters {
  readonly at: number;
  readonly heartbeats: number;
  readonly workflowTasks: number;
  readonly requests: number;
  readonly commits: number;
  readonly temporalCommits: number | undefined;
  readonly replays: number;
  readonly steps: number;
  readonly cpu: Readonly<Record<'worker' | 'api' | 'temporal' | 'postgres', number>>;
}

async function counters({ bench, api, workerPid, metricsUrl }: Load): Promise<Counters> {
  const { stack } = bench;
  const { pids } = stack;
  const [server, sdk, commits, steps] = await Promise.all([
    readMetrics(stack.metricsUrl),
    readMetrics(metricsUrl),
    stack.commits(),
    countOf(stack.pool, `select count(*)::int from messages where role = 'assistant'`),
  ]);
  const requests = (operation?: string): number =>
    server.sum('service_requests', {
      service_name: 'frontend',
      ...(operation !== undefined && { operation }),
    });
  return {
    at: performance.now(),
    heartbeats: requests('RecordActivityTaskHeartbeat'),
    workflowTasks: requests('RespondWorkflowTaskCompleted'),
    requests: requests(),
    commits: commits.postgres,
    temporalCommits: commits.temporal,
    replays: sdk.sum('temporal_sticky_cache_miss'),
    steps,
    cpu: {
      worker: cpuMs(workerPid),
      api: cpuMs(api.pid),
      temporal: cpuMs(pids.temporal),
      postgres: cpuMs(pids.postgres) + (pids.temporalStore === undefined ? 0 : cpuMs(pids.temporalStore)),
    },
  };
}

interface Sample {
  readonly modelCalls: number;
  readonly slots: number;
  readonly cached: number;
  readonly workerMb: number;
  readonly apiMb: number;
  readonly temporalMb: number;
}

/** Takes a sample each second. */
async function sampled({ bench, api, workerPid, metricsUrl }: Load, seconds: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let second = 0; second < seconds; second += 1) {
    await sleep(1_000);
    const sdk = await readMetrics(metricsUrl);
    samples.push({
      modelCalls: bench.stack.models.open(),
      slots: sdk.sum('temporal_worker_task_slots_used', { worker_type: 'ActivityWorker' }),
      cached: sdk.sum('temporal_sticky_cache_size'),
      workerMb: residentMb(workerPid),
      apiMb: residentMb(api.pid),
      temporalMb: residentMb(bench.stack.pids.temporal),
    });
  }
  return samples;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

function percentileText(values: readonly number[], part: number): string {
  return values.length === 0 ? '-' : digits(percentile(values, part));
}

function ratioText(turnMs: readonly number[], waitMs: number, part: number): string {
  return percentileText(
    turnMs.map((ms) => ms / waitMs),
    part,
  );
}
