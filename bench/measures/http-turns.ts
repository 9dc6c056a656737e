/**
 * Measures turns as users send them: over HTTP, with `?wait=`, beside a bare workflow that a client starts and awaits.
 */
import { randomUUID } from 'node:crypto';
import { TENANT, textOf, type Work } from '../contender.ts';
import { type Bench, manyAtOnce, type Measure } from '../measure.ts';
import { type Goal, ratioOf, shown, spreadOf } from '../report.ts';
import type { ApiProcess } from '../stack.ts';

/** Calls of `datetime` that a turn makes, one a step. */
const TOOLS = [0, 1, 5];
const AT_ONCE = 32;

const GOALS: Readonly<Record<string, { readonly limit: number; readonly kind: Goal['kind'] }>> = {
  'no tools, ms to the reply': { limit: 1, kind: 'max' },
  'no tools, turns a second': { limit: 1, kind: 'min' },
  '5 tools, turns a second': { limit: 2.2, kind: 'min' },
};

interface Lists {
  readonly bare: number[];
  readonly ours: number[];
}

export const httpTurns: Measure = async (bench) => {
  const api = await bench.stack.startApi();
  try {
    const client = clientOf(bench, api);
    const rows: [string, Lists][] = [];
    for (const steps of TOOLS) {
      const work: Work = { steps, tool: 'datetime' };
      const label = steps === 0 ? 'no tools' : `${steps} tool${steps > 1 ? 's' : ''}`;
      bench.log(`turns with ${label} over HTTP`);
      rows.push([`${label}, ms to the reply`, await latency(bench, client, work)]);
      rows.push([`${label}, turns a second`, await rate(bench, client, work)]);
    }
    const talks = await conversations(bench);
    bench.log('the reply and the first words');
    const after = await afterTheEnd(bench, client);
    const first = await firstWords(bench, client);
    return {
      name: 'http',
      title: 'Turns over HTTP',
      how: `A message with \`?wait=\` to its reply, in a session of its own each; bare A started and awaited by a client. One after the other, and ${AT_ONCE} at once. The reply after the transaction of the turn's end had begun, and after the event was at a reader of the feed; the first piece of an answer at a reader of the feed, after the model's server had sent it.`,
      columns: ['', 'bare A', 'TempoClaw', 'ratio'],
      rows: [
        ...rows.map(([name, { bare, ours }]) => [
          name,
          shown(spreadOf(bare)),
          shown(spreadOf(ours)),
          shown(ratioOf(ours, bare)),
        ]),
        [
          'a further turn of a conversation whose run lingers, ms to the reply',
          '',
          shown(spreadOf(talks.ms)),
          '',
        ],
        [`${AT_ONCE} such conversations, turns a second`, '', shown(spreadOf(talks.rates)), ''],
        ['reply after the end’s record was begun, ms', '', shown(spreadOf(after.recorded)), ''],
        ['reply after a reader of the feed saw the end, ms', '', shown(spreadOf(after.seen)), ''],
        ['first words after the model’s, ms', '', shown(spreadOf(first)), ''],
      ],
      goals: [
        ...rows.flatMap(([name, { bare, ours }]): Goal[] => {
          const goal = GOALS[name];
          return goal ? [{ what: `${name}, ratio to bare`, value: ratioOf(ours, bare).median, ...goal }] : [];
        }),
        {
          what: 'lingering run, ms to the reply, ratio to bare without tools',
          value: spreadOf(talks.ms).median / medianOf(rows, 'no tools, ms to the reply'),
          limit: 0.73,
          kind: 'max',
        },
        {
          what: 'lingering runs, turns a second, ratio to bare without tools',
          value: spreadOf(talks.rates).median / medianOf(rows, 'no tools, turns a second'),
          limit: 1.62,
          kind: 'min',
        },
        {
          what: 'reply after a reader of the feed saw the end, ms',
          value: spreadOf(after.seen).median,
          limit: 5,
          kind: 'max',
        },
        { what: 'first words after the model’s, ms', value: spreadOf(first).median, limit: 25, kind: 'max' },
      ],
    };
  } finally {
    await api.stop();
  }
};

/** The median of the bare side. */
function medianOf(rows: readonly (readonly [string, Lists])[], name: string): number {
  return spreadOf(rows.find(([row]) => row === name)?.[1].bare ?? []).median;
}

interface HttpClient {
  bare(work: Work): Promise<void>;
  ours(
    text: string,
    agent?: string,
    session?: string,
  ): Promise<{ readonly turn: string; readonly repliedAt: number }>;
  /**
   * Runs a turn of the agent with a reader of the feed, which records when (`clock`) it gets the first event of `type`.
   */
  watched(
    agent: string,
    type: string,
  ): Promise<{ readonly turn: string; readonly seenAt: number; readonly repliedAt: number }>;
}

function clientOf({ bareA, stack }: Bench, api: ApiProcess): HttpClient {
  const headers = { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' };
  const send = async (session: string, text: string, agent = 'bench') => {
    const response = await fetch(`${api.url}/v1/sessions/${session}/messages?wait=60`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ text, agent }),
    });
    const body = (await response.json()) as { status?: string; turn_id: string };
    if (body.status !== 'completed') throw new Error(`a turn over HTTP: ${JSON.stringify(body)}`);
    return { turn: body.turn_id, repliedAt: clock() };
  };
  return {
    bare: async (work) => (await bareA.start(work)).end(),
    ours: (text, agent, session = `http-${randomUUID()}`) => send(session, text, agent),
    async watched(agent, type) {
      const session = `http-${randomUUID()}`;
      // The session exists, and its feed can be read.
      await send(session, 'Hello.', agent);
      const { rows } = await stack.pool.query<{ last: string }>(
        'select event_seq as last from sessions where tenant_id = $1 and key = $2',
        [TENANT, session],
      );
      const abort = new AbortController();
      const { body } = await fetch(`${api.url}/v1/sessions/${session}/events?after=${rows[0]?.last}`, {
        headers: { ...headers, accept: 'text/event-stream' },
        signal: abort.signal,
      });
      if (!body) throw new Error('the feed cannot be read');
      const seen = firstOf(body, type);
      const { turn, repliedAt } = await send(session, 'Hello again.', agent);
      const seenAt = await seen;
      abort.abort();
      return { turn, seenAt, repliedAt };
    },
  };
}

async function firstOf(feed: AsyncIterable<Uint8Array>, type: string): Promise<number> {
  let text = '';
  for await (const chunk of feed) {
    text += Buffer.from(chunk).toString();
    if (text.includes(`event: ${type}`)) return clock();
  }
  throw new Error(`the feed ended without ${type}`);
}

/** Milliseconds of the wall clock, with their fractions. */
function clock(): number {
  return performance.timeOrigin + performance.now();
}

async function latency({ quick }: Bench, client: HttpClient, work: Work): Promise<Lists> {
  const lists: Lists = { bare: [], ours: [] };
  const text = textOf(work);
  for (let round = quick ? 2 : 30; round > 0; round -= 1) {
    lists.bare.push(await timed(() => client.bare(work)));
    lists.ours.push(await timed(() => client.ours(text)));
  }
  return lists;
}

async function rate({ quick }: Bench, client: HttpClient, work: Work): Promise<Lists> {
  const lists: Lists = { bare: [], ours: [] };
  const turns = quick ? 8 : 160;
  const text = textOf(work);
  const perSecond = async (job: () => Promise<unknown>): Promise<number> =>
    (turns * 1000) / (await timed(() => manyAtOnce(turns, AT_ONCE, async () => void (await job()))));
  for (let round = quick ? 1 : 3; round > 0; round -= 1) {
    lists.bare.push(await perSecond(() => client.bare(work)));
    lists.ours.push(await perSecond(() => client.ours(text)));
  }
  return lists;
}

/**
 * Measures turns without tools, each the next of its session, with `temporal.lingerSeconds`: one after the other, and
 * many sessions at once.
 */
async function conversations(bench: Bench): Promise<{ readonly ms: number[]; readonly rates: number[] }> {
  bench.log(`conversations over HTTP, ${AT_ONCE} at once`);
  const { quick, stack } = bench;
  const api = await stack.startApi({ TEMPOCLAW_LINGER_SECONDS: '30' });
  try {
    const client = clientOf(bench, api);
    const text = textOf({ steps: 0, tool: 'datetime' });
    const [ms, rates]: [number[], number[]] = [[], []];
    const alone = randomUUID();
    await client.ours(text, undefined, alone);
    for (let round = quick ? 2 : 30; round > 0; round -= 1)
      ms.push(await timed(() => client.ours(text, undefined, alone)));
    const sessions = Array.from({ length: AT_ONCE }, () => randomUUID());
    await Promise.all(sessions.map((session) => client.ours(text, undefined, session)));
    const turnsEach = quick ? 2 : 10;
    for (let round = quick ? 1 : 3; round > 0; round -= 1) {
      const durationMs = await timed(() =>
        Promise.all(
          sessions.map(async (session) => {
            for (let turn = turnsEach; turn > 0; turn -= 1) await client.ours(text, undefined, session);
          }),
        ),
      );
      rates.push((AT_ONCE * turnsEach * 1000) / durationMs);
    }
    return { ms, rates };
  } finally {
    await api.stop();
  }
}

/** The row's own time is its transaction's, so the whole record and its commit count. */
async function afterTheEnd(
  { stack, quick }: Bench,
  client: HttpClient,
): Promise<{ readonly recorded: number[]; readonly seen: number[] }> {
  const [recorded, seen]: [number[], number[]] = [[], []];
  for (let round = quick ? 2 : 30; round > 0; round -= 1) {
    const { turn, seenAt, repliedAt } = await client.watched('bench', 'turn.completed');
    const { rows } = await stack.pool.query<{ ended: number }>(
      'select (extract(epoch from ended_at) * 1000)::float8 as ended from turns where tenant_id = $1 and id = $2',
      [TENANT, turn],
    );
    recorded.push(repliedAt - (rows[0]?.ended ?? Number.NaN));
    seen.push(repliedAt - seenAt);
  }
  return { recorded, seen };
}

async function firstWords({ stack, quick }: Bench, client: HttpClient): Promise<number[]> {
  const list: number[] = [];
  for (let round = quick ? 2 : 20; round > 0; round -= 1) {
    const { seenAt } = await client.watched('bench-words', 'message.delta');
    list.push(seenAt - stack.models.firstWordAt());
  }
  return list;
}

async function timed(job: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await job();
  return performance.now() - began;
}
