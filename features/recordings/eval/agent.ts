/** An agent in an eval: its model answers itself, its tools follow a script, and no tool runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { hostOfEval } from './host.ts';
import { answersOf, type ToolScript } from './tool-script.ts';

export interface EvalOptions {
  /** What each tool answers. A call of any other tool fails the turn, and nothing runs. */
  readonly tools?: Readonly<Record<string, ToolScript>>;
  /** How people decide about calls of a tool; `*` for all others. */
  readonly approvals?: Readonly<Record<string, 'approve' | 'deny'>>;
  /** In place of the agent's model. */
  readonly model?: string;
  /** Whose rules and documents apply. */
  readonly user?: string;
}

export interface EvalCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly ok: boolean;
  readonly code: string | null;
  /** What the model has read. */
  readonly text: string;
  /** 1 for the turn's first model call. */
  readonly step: number;
}

/** A turn that has ended. */
export interface EvalRun {
  readonly text: string;
  readonly status: 'completed' | 'failed' | 'stopped';
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly calls: readonly EvalCall[];
  readonly steps: number;
  /** US dollars; null when the price of a model is not known. */
  readonly cost: number | null;
  readonly tokens: { readonly input: number; readonly output: number };
  /** Its session and turn, for `tempoclaw turns show`. */
  readonly session: string;
  readonly turn: string;
}

export interface EvalSession {
  /** @throws Error when a call has no answer in the script */
  send(message: string): Promise<EvalRun>;
}

export interface EvalAgent extends EvalSession {
  /** A conversation of several turns; `send` of the agent itself begins a new one each time. */
  session(): Promise<EvalSession>;
}

export function agent(key: string, options: EvalOptions = {}): EvalAgent {
  const session = () => openSession(key, options);
  return { session, send: async (message) => (await session()).send(message) };
}

async function openSession(key: string, { tools = {}, ...options }: EvalOptions): Promise<EvalSession> {
  const answers = Object.entries(tools).map(([name, script]) => [name, answersOf(script)] as const);
  const script = { agent: key, ...options, tools: Object.fromEntries(answers) };
  const { session_key: session } = (await hostOfEval().send('POST', '/v1/replays', {
    mode: 'script',
    script,
  })) as { readonly session_key: string };
  return { send: (message) => sendMessage(session, message) };
}

interface Turn {
  readonly id: string;
  readonly status: string;
  readonly text: string | null;
  readonly error: EvalRun['error'];
  readonly steps: number;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cost_usd: number | null;
    readonly unpriced_calls: number;
  };
}

const ENDED = new Set(['completed', 'failed', 'stopped']);
const WAIT_SECONDS = 60;
const LOOK_MS = 250;
const MAX_MS = 900_000;
/** More calls than a turn of an eval makes. */
const MAX_CALLS = 200;

async function sendMessage(session: string, text: string): Promise<EvalRun> {
  const host = hostOfEval();
  const path = `/v1/sessions/${session}/messages?wait=${WAIT_SECONDS}`;
  const { turn_id } = (await host.send('POST', path, { text })) as { readonly turn_id: string };
  let turn = (await host.send('GET', `/v1/turns/${turn_id}`)) as Turn;
  for (const until = Date.now() + MAX_MS; !ENDED.has(turn.status); await sleep(LOOK_MS)) {
    if (Date.now() > until) throw new Error(`The turn ${turn_id} has not ended in 15 minutes.`);
    turn = (await host.send('GET', `/v1/turns/${turn_id}`)) as Turn;
  }
  if (turn.error?.code === 'NotRecorded') throw new Error(turn.error.message);
  const { data } = (await host.send('GET', `/v1/turns/${turn_id}/tool-calls?limit=${MAX_CALLS}`)) as {
    readonly data: readonly EvalCall[];
  };
  const { usage } = turn;
  return {
    text: turn.text ?? '',
    status: turn.status as EvalRun['status'],
    error: turn.error,
    calls: data.map(({ tool, args, ok, code, text: result, step }) => ({
      tool,
      args,
      ok,
      code,
      text: result,
      step,
    })),
    steps: turn.steps,
    cost: usage.unpriced_calls > 0 ? null : usage.cost_usd,
    tokens: { input: usage.input_tokens, output: usage.output_tokens },
    session,
    turn: turn_id,
  };
}
