/**
 * `/v1/ag-ui/{agent}`: runs of AG-UI 1.0. A thread is the session with this key; a run is what a turn does until it
 * ends or waits for somebody.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EventType } from '@ag-ui/core';
import { z } from 'zod';
import { answerCalls } from '#api/answer-calls.ts';
import { argumentsOf } from '#api/call-arguments.ts';
import { refuseTakenNames } from '#api/client-tools.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { reachableTurn } from '#api/found.ts';
import { openingText } from '#api/opening-text.ts';
import { contextOf, namedId } from '#api/routes/turns/messages.ts';
import { MAX_BODY_WITH_FILES } from '#api/sent-files.ts';
import { type Caller, callerOf } from '#api/server/auth.ts';
import { toProblem } from '#api/server/errors.ts';
import { createSseReplies } from '#api/server/sse-replies.ts';
import { lastTurn, startTurn, wholeTurn } from '#api/start-turn.ts';
import { dataFrame, streamTurn } from '#api/stream-turn.ts';
import { createTurnFollower, type StartedTurn } from '#api/turn-follower.ts';
import { Failure } from '#domain/errors.ts';
import { turnIdOf } from '#domain/ids.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { isFirstMessage } from '#store/turns/message-store.ts';
import { createRunEvents } from '../run-events.ts';
import { type NewInRun, readRun, type RunInput, runInputSchema, seenIn } from '../run-input.ts';

const params = z.object({ agent: nameSchema });

export function addRoutes(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);

  app.post(
    '/v1/ag-ui/:agent',
    {
      config: { scope: 'run', repeatable: true },
      bodyLimit: MAX_BODY_WITH_FILES,
      errorHandler: sendRunError,
      schema: { hide: true, params, body: runInputSchema },
    },
    async (request, reply) => {
      const { body } = request;
      const caller = callerOf(request);
      const { turn, decided } = await turnOfRun(deps, caller, request.params.agent, body);
      const seen = seenIn(body);
      const events = createRunEvents(body, turn.id, {
        ...seen,
        calls: new Set([...seen.calls, ...decided]),
      });
      const follower = createTurnFollower(deps, caller, turn);
      return streamTurn(replies, request, reply, follower, async (news) => {
        const args = await argumentsOf(forTenant(deps.pool, caller.tenant), turn.id, news);
        const { events: added, isOver } = events.take(news, args);
        return { frames: added.map(dataFrame), isOver };
      });
    },
  );
}

interface FollowedRun {
  readonly turn: StartedTurn;
  readonly decided: readonly string[];
}

/** Safe to repeat: a run that is sent again has the same turn. */
async function turnOfRun(
  deps: ApiDeps,
  caller: Caller,
  agent: string,
  input: RunInput,
): Promise<FollowedRun> {
  const { threadId: session, tools } = input;
  const { id } = namedId(caller, 'ag-ui', session, input.runId);
  const known = await reachableTurn(deps.pool, caller, turnIdOf(id));
  if (known) return { turn: await wholeTurn(deps, caller, session, known.id), decided: [] };
  const added = readRun(input);
  await refuseTakenNames(deps, caller.tenant, agent, tools);
  const answered = await answerCalls(deps, caller, added, session);
  const decided = answered?.decided ?? [];
  if (added.text === '' && added.files.length === 0)
    return { turn: answered ?? (await runAgain(deps, caller, session)), decided };
  const turn = await startTurn(deps, caller, {
    id,
    repeatable: true,
    session,
    text: await textOf(deps, caller, session, id, added),
    files: added.files,
    mode: answered ? 'steer' : null,
    context: contextOf(caller, { agent, client_tools: tools.length > 0 ? tools : undefined }),
  });
  return { turn, decided };
}

/** The same again for a repeat. */
async function textOf(
  deps: ApiDeps,
  caller: Caller,
  session: string,
  id: string,
  { text, instructions, before }: NewInRun,
): Promise<string> {
  const isFirst = await isFirstMessage(forTenant(deps.pool, caller.tenant), session, id);
  return isFirst ? openingText(instructions, before, text) : text;
}

/** A run with nothing new is of a client that was cut off or loaded anew. */
async function runAgain(deps: ApiDeps, caller: Caller, session: string): Promise<StartedTurn> {
  const turn = await lastTurn(deps, caller, session);
  if (turn) return turn;
  throw new Failure(
    'InvalidInput',
    'messages: nothing is new: no text of a user, no result of a tool, no resume',
  );
}

/** Errors before the stream have the form of the event that ends a failed run. */
function sendRunError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, headers, body, isBug } = toProblem(error, request);
  if (isBug) request.log.error({ err: error }, 'request failed');
  void reply
    .code(status)
    .headers({ ...headers, 'content-type': 'application/json; charset=utf-8' })
    .send({ type: EventType.RUN_ERROR, message: body.detail, code: body.code });
}
