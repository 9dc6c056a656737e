/** Saying something in a session: messages, steering, stopping, and the transcript. */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { stopAssignments } from '#temporal/stop-assignments.ts';
import { listMessages, type MessageRow } from '#store/message-store.ts';
import { findOpenTurn, findTurn, listTurns } from '#store/turn-store.ts';
import { Failure } from '#domain/errors.ts';
import {
  messageCreateSchema,
  messageReceiptSchema,
  messageSchema,
  steerSchema,
  stopReceiptSchema,
  stopSchema,
} from '#domain/schema/message.ts';
import { pageQuery, pageSchema, sessionKeySchema } from '#domain/schema/scalars.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { AGENT_TURN, type MessageContext, type StopLevel } from '#domain/turn.ts';
import { type Caller, callerOf, signatureOf, userOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { followHandoff } from '../follow-handoff.ts';
import { sessionOr404 } from '../found.ts';
import { stemOf } from '../idempotency.ts';
import { assignmentsToStop } from '../lost-work.ts';
import { problems } from '../openapi.ts';
import { isNumberKeys, readPage } from '../pages.ts';
import { type Accepted, steerTurn, submitMessage } from '../submit-message.ts';
import { hasEnded, waitForTurn } from '../turn-wait.ts';

/** A caller that waits holds a connection, so there is an end to it. */
const MAX_WAIT_SECONDS = 300;

export const sessionParams = z.object({ key: sessionKeySchema });
export const waitQuery = z.coerce
  .number()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .meta({ description: 'Seconds to wait for the end of the turn' });

export function addMessageRoutes(app: Api, deps: ApiDeps): void {
  addSubmit(app, deps);
  addSteer(app, deps);
  addStop(app, deps);
  addTranscript(app, deps);
}

function addSubmit(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/sessions/:key/messages',
    {
      config: { scope: 'run', repeatable: true },
      schema: {
        tags: ['messages'],
        operationId: 'sendMessage',
        summary: 'Send a message',
        description:
          'Accepted with 202 once Temporal has it: from then on no crash loses it. With `?wait=` the answer comes with the end of the turn, or with 202 when the time is up before.',
        params: sessionParams,
        querystring: z.strictObject({ wait: waitQuery.optional() }),
        body: messageCreateSchema,
        response: {
          200: messageReceiptSchema,
          202: messageReceiptSchema,
          ...problems('NotFound', 'Conflict', 'SessionBusy', 'QueueFull', 'TooLarge', 'UnsupportedMedia'),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { key } = request.params;
      const { text, mode, ...context } = request.body;
      const { wait } = request.query;
      const session = await followHandoff(deps.pool, caller.tenant, key, context);
      const accepted = await submitMessage(deps, caller.tenant, {
        ...newId(request, caller, 'message', key),
        session,
        text,
        mode: mode ?? null,
        context: contextOf(caller, context),
        confinedTo: caller.confinedTo,
        waits: wait !== undefined,
      });
      if (wait === undefined) return reply.code(202).send(receiptOf(session, accepted));
      const turn = await waitForTurn(
        deps,
        { tenant: caller.tenant, session, id: accepted.receipt.turn_id },
        { seconds: wait, signal: endOf(request) },
      );
      if (!turn) await accepted.keepTurn();
      return reply.code(hasEnded(turn) ? 200 : 202).send({
        ...receiptOf(session, accepted),
        status: turn?.status ?? 'queued',
        text: turn?.text ?? null,
        ...(turn?.error ? { error: turn.error } : {}),
      });
    },
  );
}

function addSteer(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/sessions/:key/steer',
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => void (await sessionOr404(deps.pool, request)),
      schema: {
        tags: ['messages'],
        operationId: 'steerTurn',
        summary: 'Steer the running turn',
        description:
          'The text is read by the next model call of the turn that runs; the answer says which step.',
        params: sessionParams,
        body: steerSchema,
        response: {
          202: messageReceiptSchema,
          ...problems('NotFound', 'Conflict', 'StaleTurn'),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { key } = request.params;
      const { text, turn_id, ...context } = request.body;
      const accepted = await steerTurn(
        deps,
        caller.tenant,
        {
          ...newId(request, caller, 'steer', key),
          session: key,
          text,
          mode: 'steer',
          context: contextOf(caller, context),
          confinedTo: caller.confinedTo,
        },
        turn_id,
      );
      return reply.code(202).send(receiptOf(key, accepted));
    },
  );
}

function addStop(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/sessions/:key/stop',
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => void (await sessionOr404(deps.pool, request)),
      schema: {
        tags: ['messages'],
        operationId: 'stopTurn',
        summary: 'Stop a turn',
        description:
          'A stop names its turn, so a late one never hits the next; without `turn_id` the running one is meant. `now` and `all` also stop the subagents that the session has started and the work that it gave away, and `all` ends its background commands and its own box; `turn_id` is null when no turn ran.',
        params: sessionParams,
        body: stopSchema,
        response: { 202: stopReceiptSchema, ...problems('NotFound', 'Conflict', 'StaleTurn') },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { key } = request.params;
      const { level, turn_id, reason } = request.body;
      const turn =
        turn_id === undefined
          ? await findOpenTurn(deps.pool, caller.tenant, key)
          : await findTurn(deps.pool, caller.tenant, turn_id);
      if (!turn && turn_id === undefined && (await stopIdleSession(deps, request, level, reason)))
        return reply.code(202).send({ session_key: key, turn_id: null, level });
      if (!turn && turn_id === undefined) throw new Failure('Conflict', `No turn runs in session ${key}`);
      if (!turn || turn.session_key !== key)
        throw new Failure('NotFound', `No turn with this id in session ${key}`);
      if (hasEnded(turn)) throw new Failure('StaleTurn', `Turn ${turn.id} has ended: ${turn.status}`);
      const sent = await deps.temporal.stop(caller.tenant, key, {
        level,
        turn_id: turn.id,
        by: signatureOf(caller),
        reason,
      });
      if (!sent) throw new Failure('StaleTurn', `Turn ${turn.id} does not run`);
      return reply.code(202).send({ session_key: key, turn_id: turn.id, level });
    },
  );
}

/**
 * What goes on in a session in which no turn runs that could stop it itself. False when there is nothing; only a worker knows
 * of background commands, so `all` is true for each session that had a turn.
 */
async function stopIdleSession(
  deps: ApiDeps,
  request: FastifyRequest,
  level: StopLevel,
  reason: string | undefined,
): Promise<boolean> {
  const caller = callerOf(request);
  const { key, agent_key: agent } = await sessionOr404(deps.pool, request);
  const by = signatureOf(caller);
  if (level === 'step') return false;
  const [last] = await listTurns(deps.pool, caller.tenant, key, 1, undefined);
  if (!last) return false;
  const stop = { level, turn_id: last.id, by, reason };
  if (level === 'now') {
    const ended = await stopAssignments(assignmentsToStop(deps), caller.tenant, key, by);
    // One that works on an assignment waits for what has been ended.
    await deps.temporal.signal(sessionWorkflowId(caller.tenant, key), AGENT_TURN.signals.stop, stop);
    return ended > 0;
  }
  await deps.temporal.stopIdle(caller.tenant, key, stop, { agent, summary: `${agent}: stop of ${key}` });
  return true;
}

function addTranscript(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/sessions/:key/messages',
    {
      config: { scope: 'read' },
      preValidation: async (request) => void (await sessionOr404(deps.pool, request)),
      schema: {
        tags: ['sessions'],
        operationId: 'listMessages',
        summary: 'Read the transcript',
        params: sessionParams,
        querystring: z.strictObject({ ...pageQuery, order: z.enum(['asc', 'desc']).default('asc') }),
        response: { 200: pageSchema(messageSchema), ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const { order } = request.query;
      return readPage(
        request.query,
        (limit, after) =>
          listMessages(deps.pool, tenant, request.params.key, order, limit, after && String(after[0])),
        (row) => [Number(row.position)],
        showMessage,
        isNumberKeys(1),
      );
    },
  );
}

/** An id that follows from the Idempotency-Key, or one that nobody can guess. */
export function newId(
  request: FastifyRequest,
  caller: Caller,
  ...parts: readonly string[]
): { readonly id: string; readonly repeatable: boolean } {
  const stem = stemOf(request, caller, ...parts);
  return { id: `msg_${stem ?? randomBytes(16).toString('hex')}`, repeatable: stem !== undefined };
}

interface GivenContext {
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly channel?: string | undefined;
  readonly chat_id?: string | undefined;
  readonly allowed_tools?: readonly string[] | undefined;
}

export function contextOf(caller: Caller, given: GivenContext): MessageContext {
  const user = userOf(caller, given.user);
  return {
    agent: given.agent,
    user,
    channel: given.channel,
    chat_id: given.chat_id,
    allowed_tools: given.allowed_tools,
    roles: [...caller.scopes],
  };
}

/** Aborted when the caller goes away or the server is about to stop: nobody waits for nobody. */
export function endOf(request: FastifyRequest): AbortSignal {
  const gone = new AbortController();
  request.raw.once('close', () => {
    if (!request.raw.complete || request.raw.destroyed) gone.abort();
  });
  return AbortSignal.any([gone.signal, request.server.stopping]);
}

function receiptOf(session: string, { receipt, workflowId }: Accepted): z.infer<typeof messageReceiptSchema> {
  return {
    session_key: session,
    turn_id: receipt.turn_id,
    message_id: receipt.message_id,
    workflow_id: workflowId,
    ahead: receipt.ahead,
    mode: receipt.mode,
    step: receipt.step,
    duplicate: receipt.duplicate,
  };
}

function showMessage(row: MessageRow): z.infer<typeof messageSchema> {
  return {
    id: row.id,
    role: row.role,
    text: row.text,
    turn_id: row.turn_id,
    step: row.step,
    position: Number(row.position),
    calls: row.calls?.map(({ sealed: _sealed, ...call }) => call) ?? null,
    model: row.model,
    created_at: row.created_at.toISOString(),
  };
}
