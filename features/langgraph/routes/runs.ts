/** `/v1/langgraph/threads/{thread}/runs`: turns. A turn that waits is the same run when it is resumed. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { answerCalls } from '#api/answer-calls.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { reachableSession, reachableTurn } from '#api/found.ts';
import { contextOf, endOf, namedId, newId } from '#api/routes/turns/messages.ts';
import { type Caller, callerOf, requireScope, signatureOf } from '#api/server/auth.ts';
import { MAX_BODY_WITH_FILES } from '#api/sent-files.ts';
import { createSseReplies, lastEventId } from '#api/server/sse-replies.ts';
import { lastTurn, startTurn, wholeTurn } from '#api/start-turn.ts';
import { streamTurn } from '#api/stream-turn.ts';
import { createTurnFollower, followUntil, type StartedTurn } from '#api/turn-follower.ts';
import { pauseOf, type TurnPause } from '#api/turn-pause.ts';
import { hasEnded } from '#api/turn-wait.ts';
import { Failure } from '#domain/errors.ts';
import { isMessageId } from '#domain/ids.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTurn, listTurns, type TurnRow } from '#store/turns/turn-store.ts';
import { createRunFrames, waitsIn } from '../run-frames.ts';
import {
  modeOf,
  modesSchema,
  type RunRequest,
  readInput,
  readResume,
  runRequestSchema,
  type StreamMode,
} from '../run-request.ts';
import { readMessages, readWaits, runOf, type Values, valuesOf } from '../state.ts';
import { pageSchema } from './assistants.ts';
import { threadParams } from './threads.ts';

const runParams = threadParams.extend({ run: z.string().max(200) });
const NEW_RUN = { config: { scope: 'run', repeatable: true }, bodyLimit: MAX_BODY_WITH_FILES } as const;

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  const replies = createSseReplies(app, deps);
  const threads = '/v1/langgraph/threads/:thread/runs';
  const create = { ...NEW_RUN, schema: { hide: true, body: runRequestSchema } } as const;
  const inThread = { ...create, schema: { ...create.schema, params: threadParams } } as const;
  const read = { config: { scope: 'read' }, schema: { hide: true, params: runParams } } as const;

  const begin = async (request: FastifyRequest, reply: FastifyReply, body: RunRequest, thread?: string) => {
    const turn = await beginRun(deps, request, body, thread);
    reply.header('content-location', `/threads/${turn.session}/runs/${turn.id}`);
    return turn;
  };
  const createRun = async (request: FastifyRequest, reply: FastifyReply, body: RunRequest, thread?: string) =>
    runOf(await rowOf(deps, request, await begin(request, reply, body, thread)));
  const waitForRun = async (
    request: FastifyRequest,
    reply: FastifyReply,
    body: RunRequest,
    thread?: string,
  ) => endValues(deps, request, reply, await begin(request, reply, body, thread));
  const streamRun = async (
    request: FastifyRequest,
    reply: FastifyReply,
    body: RunRequest,
    thread?: string,
  ) => {
    const turn = await begin(request, reply, body, thread);
    // Where a client that was cut off goes on.
    reply.header('location', `/threads/${turn.session}/runs/${turn.id}/stream`);
    return stream(request, reply, turn, body.stream_mode);
  };
  for (const [end, handle] of [
    ['', createRun],
    ['/wait', waitForRun],
    ['/stream', streamRun],
  ] as const) {
    app.post(`${threads}${end}`, inThread, (request, reply) =>
      handle(request, reply, request.body, request.params.thread),
    );
    app.post(`/v1/langgraph/runs${end}`, create, (request, reply) => handle(request, reply, request.body));
  }

  app.get(
    threads,
    { ...read, schema: { hide: true, params: threadParams, querystring: z.looseObject(pageSchema) } },
    async (request) => {
      const { thread } = request.params;
      const { limit, offset } = request.query;
      const caller = callerOf(request);
      if (!(await reachableSession(pool, caller, thread))) return [];
      const turns = await listTurns(forTenant(pool, caller.tenant), thread, offset + limit, undefined);
      return turns.slice(offset).map(runOf);
    },
  );
  app.get(`${threads}/:run`, read, async (request) => runOf(await runOr404(deps, request)));
  app.get(`${threads}/:run/join`, read, async (request, reply) =>
    endValues(deps, request, reply, await started(deps, request, await runOr404(deps, request))),
  );
  app.get(
    `${threads}/:run/stream`,
    { ...read, schema: { ...read.schema, querystring: z.looseObject({ stream_mode: modesSchema }) } },
    async (request, reply) => {
      const turn = await started(deps, request, await runOr404(deps, request));
      const from = lastEventId(request.headers['last-event-id']) ?? turn.after;
      return stream(request, reply, { ...turn, after: from }, request.query.stream_mode);
    },
  );
  app.post(
    `${threads}/:run/cancel`,
    {
      config: { scope: 'run' },
      schema: { hide: true, params: runParams, querystring: z.looseObject({ wait: z.string().optional() }) },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const turn = await runOr404(deps, request);
      if (hasEnded(turn)) throw new Failure('StaleTurn', `The run has ended: ${turn.status}`);
      const stop = { level: 'now', turn_id: turn.id, by: signatureOf(caller) } as const;
      await deps.temporal.stop(caller.tenant, turn.session_key, stop);
      if (request.query.wait !== '1') return reply.code(202).send();
      const follower = createTurnFollower(deps, caller, await started(deps, request, turn));
      await followUntil(follower, endOf(reply), ({ ended }) => ended !== undefined);
      return reply.code(204).send();
    },
  );

  /** Sends what comes after the event `after`. */
  async function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    { id, session, after: from }: StartedTurn,
    modes: readonly StreamMode[],
  ): Promise<void> {
    const caller = callerOf(request);
    const db = forTenant(pool, caller.tenant);
    const { after } = await wholeTurn(deps, caller, session, id);
    const frames = createRunFrames({ turn: id, modes, from, readMessages: () => readMessages(db, session) });
    const follower = createTurnFollower(deps, caller, { id, session, after });
    return streamTurn(replies, request, reply, follower, frames.take);
  }
}

/** Safe to repeat with the same id of the message. */
async function beginRun(
  deps: ApiDeps,
  request: FastifyRequest,
  body: RunRequest,
  thread: string | undefined,
): Promise<StartedTurn> {
  const caller = callerOf(request);
  // The state of a thread has all that was said there.
  requireScope(caller, 'read');
  if (body.command) return resumeRun(deps, request, body, thread);
  const input = readInput(body);
  if (input.text.trim() === '' && input.files.length === 0) return runAgain(deps, caller, thread);
  const id = messageIdOf(request, thread, input);
  return startTurn(deps, caller, {
    ...id,
    session: thread ?? `langgraph-${id.id.slice('msg_'.length)}`,
    text: input.text,
    files: input.files,
    mode: modeOf(body),
    context: contextOf(caller, { agent: body.assistant_id }),
  });
}

/** A client that was cut off sends its message again, with its id, and gets the same run. */
function messageIdOf(
  request: FastifyRequest,
  thread: string | undefined,
  { id, text }: ReturnType<typeof readInput>,
) {
  const caller = callerOf(request);
  const isNamed =
    id !== undefined && thread !== undefined && request.headers['idempotency-key'] === undefined;
  if (!isNamed) return newId(request, caller, 'langgraph', thread ?? '');
  return namedId(caller, 'langgraph', thread, id, text);
}

async function resumeRun(
  deps: ApiDeps,
  request: FastifyRequest,
  { command, input }: RunRequest,
  thread: string | undefined,
): Promise<StartedTurn> {
  if (input) throw new Failure('InvalidInput', 'Send command or input, not both');
  if (command?.resume == null) throw new Failure('Unprocessable', 'command: only resume is possible');
  const caller = callerOf(request);
  const row = thread === undefined ? undefined : await reachableSession(deps.pool, caller, thread);
  if (!row) throw new Failure('NotFound', 'There is no thread that waits');
  const waits = await readWaits(forTenant(deps.pool, caller.tenant), caller, row);
  const decisions = readResume(command.resume, waits);
  const answered = await answerCalls(deps, caller, { results: [], decisions }, row.key);
  return answered ?? runAgain(deps, caller, thread);
}

/** A run with nothing new is of a client that comes back. */
async function runAgain(deps: ApiDeps, caller: Caller, thread: string | undefined): Promise<StartedTurn> {
  const turn = thread === undefined ? undefined : await lastTurn(deps, caller, thread);
  if (turn) return turn;
  throw new Failure(
    'InvalidInput',
    'Nothing is new: no message of a user in input.messages, no command.resume',
  );
}

/** The state when the turn has ended or waits for somebody. */
async function endValues(
  deps: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  turn: StartedTurn,
): Promise<Values> {
  const caller = callerOf(request);
  let pause: TurnPause | undefined;
  await followUntil(createTurnFollower(deps, caller, turn), endOf(reply), (news) => {
    pause = pauseOf(news);
    return pause !== undefined;
  });
  if (!pause) throw new Failure('Unavailable', 'The server stops; the turn goes on');
  const { waits, error } = waitsIn(pause);
  return valuesOf(await readMessages(forTenant(deps.pool, caller.tenant), turn.session), waits, error);
}

async function runOr404({ pool }: ApiDeps, request: FastifyRequest): Promise<TurnRow> {
  const { thread, run } = runParams.parse(request.params);
  const turn = isMessageId(run) ? await reachableTurn(pool, callerOf(request), run) : undefined;
  if (turn?.session_key !== thread) throw new Failure('NotFound', 'There is no such run in this thread');
  return turn;
}

async function rowOf({ pool }: ApiDeps, request: FastifyRequest, { id }: StartedTurn): Promise<TurnRow> {
  const turn = await findTurn(forTenant(pool, callerOf(request).tenant), id);
  if (!turn) throw new Failure('NotFound', 'The run is no longer there');
  return turn;
}

function started(deps: ApiDeps, request: FastifyRequest, { id, session_key }: TurnRow): Promise<StartedTurn> {
  return wholeTurn(deps, callerOf(request), session_key, id);
}
