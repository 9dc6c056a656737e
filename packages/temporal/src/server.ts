/** Requests to TempoClaw's API about guarded calls. The key stays in this process. */
import type { Ask, Decision, End } from './contract.ts';

export interface ServerOptions {
  /** Where the API is, such as `http://127.0.0.1:7400`. */
  readonly url: string;
  /** A key with the scope `run`. A function is called for each request. */
  readonly key: string | (() => string | Promise<string>);
  /** The agent whose rules judge the calls; `main` when absent. */
  readonly agent?: string;
  readonly fetch?: typeof fetch;
}

/** Where a call is in Temporal. */
export interface CallPlace {
  readonly id: string;
  readonly namespace: string;
  readonly workflow_id: string;
  readonly run_id: string;
}

/** A request that is refused whenever it is sent. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** An answer, as the API has it; `waiting` while a person decides. */
export type Answer = (Decision | (Omit<Decision, 'decision'> & { readonly decision: 'waiting' })) & {
  readonly approval_id: string | null;
  /** ISO 8601. */
  readonly created_at: string;
};

/** Milliseconds beyond the wait of a request. */
const ANSWER_MS = 15_000;
/** Characters of an answer. */
const MAX_ANSWER = 1_048_576;
/** Statuses that pass. */
const PASSING = new Set([408, 425, 429]);

/** Safe to repeat: the call's id follows from its place. @throws Refusal; other errors may pass */
export function begin(
  options: ServerOptions,
  { id, ...place }: CallPlace,
  { tool, replay, args }: Ask,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<Answer> {
  const { agent } = options;
  const body = { tool, replay, args, ...place, ...(agent !== undefined && { agent }) };
  const path = `/v1/guarded-calls/${id}?wait=${waitSeconds}`;
  return send(options, 'PUT', path, body, waitSeconds * 1000, signal) as Promise<Answer>;
}

/** Safe to repeat. @throws Refusal; other errors may pass */
export async function finish(
  options: ServerOptions,
  { id }: CallPlace,
  { outcome, code, text }: End,
  signal: AbortSignal,
): Promise<void> {
  const body = { outcome, ...(code !== undefined && { code }), ...(text !== undefined && { text }) };
  await send(options, 'POST', `/v1/guarded-calls/${id}/outcome`, body, 0, signal);
}

async function send(
  { url, key, fetch: send = fetch }: ServerOptions,
  method: string,
  path: string,
  body: object,
  waitMs: number,
  signal: AbortSignal,
): Promise<unknown> {
  const bearer = typeof key === 'function' ? await key() : key;
  const response = await send(`${url.replace(/\/+$/, '')}${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(waitMs + ANSWER_MS)]),
  });
  const text = (await response.text()).slice(0, MAX_ANSWER);
  if (response.ok) return JSON.parse(text);
  const words = `TempoClaw answers ${response.status}: ${problemIn(text)}`;
  if (response.status >= 500 || PASSING.has(response.status)) throw new Error(words);
  throw new Refusal(response.status, words);
}

/** The words of the API's error; nothing of another answer, such as a proxy's page. */
function problemIn(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    if (typeof detail === 'string') return detail.slice(0, 500);
  } catch {
    // It is not the API's.
  }
  return 'it gave no reason';
}
