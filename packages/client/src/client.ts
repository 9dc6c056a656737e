/** A typed client of TempoClaw's HTTP API, for browsers and Node. */
import { followFeed, type FeedOptions } from './feed.ts';
import { createHttp, invalid, type ClientOptions, type RequestOptions } from './http.ts';
import type { Operations } from './operations.ts';

export { type Problem, refusal, TempoClawError } from './error.ts';
export { type FeedOptions, type FeedSource, followFeed } from './feed.ts';
export type { ClientOptions, RequestOptions } from './http.ts';
export type { Operations } from './operations.ts';

type NamesWith<Part extends string> = {
  [Name in keyof Operations]: Operations[Name] extends { readonly [Key in Part]: unknown } ? Name : never;
}[keyof Operations];

/** Operations that have one answer, such as 'GET /v1/sessions/{key}'. */
export type OperationName = NamesWith<'answer'>;
/** Operations that are streams of events. */
export type FeedName = NamesWith<'event'>;
export type AnswerOf<Name extends OperationName> = Operations[Name]['answer'];
export type EventOf<Name extends FeedName> = Operations[Name]['event'];
type QueryOf<Name extends keyof Operations> = Operations[Name]['query'];
type BodyOf<Name extends keyof Operations> = Operations[Name]['body'];

/** The parts of a request; those whose fields may all be omitted may be omitted. A file is a Blob. */
export type RequestParts<Name extends keyof Operations> = Part<'params', Operations[Name]['params']> &
  Part<'query', QueryOf<Name>> &
  (BodyOf<Name> extends undefined ? { readonly body?: Blob } : Part<'body', BodyOf<Name>>);

type Part<Key extends string, Value> = {} extends Value
  ? { readonly [One in Key]?: Value }
  : { readonly [One in Key]: Value };

/** Parts and options may be omitted where the operation needs none. */
type Rest<Name extends keyof Operations, Options> =
  {} extends RequestParts<Name>
    ? [parts?: RequestParts<Name>, options?: Options]
    : [parts: RequestParts<Name>, options?: Options];

const MESSAGES = 'POST /v1/sessions/{key}/messages';
const STOP = 'POST /v1/sessions/{key}/stop';
const EVENTS = 'GET /v1/sessions/{key}/events';
const APPROVALS = 'GET /v1/approvals';
const APPROVAL = 'GET /v1/approvals/{id}';
const DECISION = 'POST /v1/approvals/{id}/decision';
const APPROVAL_EVENTS = 'GET /v1/approvals/events';

export interface Session {
  readonly key: string;
  /** Resolves when the message is accepted; with `wait`, when its turn has ended, waits for a person, or the time is up. */
  send(
    text: string,
    message?: Omit<BodyOf<typeof MESSAGES>, 'text'> & QueryOf<typeof MESSAGES>,
    options?: RequestOptions,
  ): Promise<AnswerOf<typeof MESSAGES>>;
  /** Every event behind `after`, once and in order, until you leave the loop or abort the signal. */
  events(options?: FeedOptions): AsyncGenerator<EventOf<typeof EVENTS>, void>;
  stop(stop?: BodyOf<typeof STOP>, options?: RequestOptions): Promise<AnswerOf<typeof STOP>>;
}

export interface Client {
  session(key: string): Session;
  readonly approvals: {
    list(query?: QueryOf<typeof APPROVALS>, options?: RequestOptions): Promise<AnswerOf<typeof APPROVALS>>;
    show(id: string, options?: RequestOptions): Promise<AnswerOf<typeof APPROVAL>>;
    decide(
      id: string,
      decision: BodyOf<typeof DECISION>,
      options?: RequestOptions,
    ): Promise<AnswerOf<typeof DECISION>>;
    /** Approvals as they are requested and decided. */
    events(
      query?: Omit<QueryOf<typeof APPROVAL_EVENTS>, 'after'>,
      options?: FeedOptions,
    ): AsyncGenerator<EventOf<typeof APPROVAL_EVENTS>, void>;
  };
  /** Sends any operation of the API. Rejects with a TempoClawError, or with the reason of your signal. */
  request<Name extends OperationName>(
    name: Name,
    ...rest: Rest<Name, RequestOptions>
  ): Promise<AnswerOf<Name>>;
  /** Follows any stream of the API. */
  follow<Name extends FeedName>(
    name: Name,
    ...rest: Rest<Name, FeedOptions>
  ): AsyncGenerator<EventOf<Name>, void>;
}

/** Throws a TempoClawError if an option is not usable. It sends nothing. */
export function createClient(options: ClientOptions): Client {
  const http = createHttp(options);

  async function request(name: string, parts: AnyParts = {}, how: RequestOptions = {}): Promise<unknown> {
    const wait = Number(parts.query?.['wait'] ?? 0) * 1_000;
    const timeoutMs = (how.timeoutMs ?? options.timeoutMs ?? 60_000) + wait;
    return http.send({ ...placeOf(name, parts), body: parts.body }, { ...how, timeoutMs });
  }

  async function* follow(name: string, parts: AnyParts = {}, how: FeedOptions = {}) {
    const place = placeOf(name, parts);
    const headers = { accept: 'text/event-stream' };
    const batches = followFeed<unknown>({
      ...how,
      open: (after, signal) =>
        http.open(
          {
            ...place,
            headers: { ...headers, ...(after !== undefined && { 'last-event-id': String(after) }) },
          },
          signal,
        ),
      isNumbered: name === EVENTS,
    });
    for await (const events of batches) yield* events;
  }

  const client = { request, follow } as Pick<Client, 'request' | 'follow'>;
  return {
    ...client,
    session: (key) => ({
      key,
      send: (text, { wait, ...message } = {}, how) =>
        client.request(
          MESSAGES,
          { params: { key }, query: wait === undefined ? {} : { wait }, body: { ...message, text } },
          how,
        ),
      events: (how) => client.follow(EVENTS, { params: { key } }, how),
      stop: (body = {}, how) => client.request(STOP, { params: { key }, body }, how),
    }),
    approvals: {
      list: (query = {}, how) => client.request(APPROVALS, { query }, how),
      show: (id, how) => client.request(APPROVAL, { params: { id } }, how),
      decide: (id, body, how) => client.request(DECISION, { params: { id }, body }, how),
      events: (query = {}, how) => client.follow(APPROVAL_EVENTS, { query }, how),
    },
  };
}

interface AnyParts {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** The method of an operation, and its address relative to the one of TempoClaw. */
export function addressOf(
  name: string,
  { params = {}, query = {} }: AnyParts,
): { readonly method: string; readonly address: string } {
  const [method = 'GET', path = ''] = name.split(' ');
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) search.append(key, String(one));
  return { method, address: `${filled.slice(1)}${search.size > 0 ? `?${search.toString()}` : ''}` };
}

/** The same, but throws when a dot, two, or nothing would lead to another operation. */
function placeOf(name: string, parts: AnyParts) {
  for (const [, key = ''] of name.matchAll(/\{(\w+)\}/g)) {
    const value = String(parts.params?.[key] ?? '');
    if (/^\.{0,2}$/.test(value))
      throw invalid(`${name}: ${key} is ${JSON.stringify(value)}, which names nothing`);
  }
  return addressOf(name, parts);
}
