/** Accepts messages to a session. */
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { messageCreateSchema, messageReceiptSchema, waitSchema } from '#domain/schema/message.ts';
import { sessionKeySchema } from '#domain/schema/scalars.ts';
import type { ClientTool } from '#domain/schema/client-tool.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import { withFiles } from '../../sent-files.ts';
import { type Caller, callerOf, userOf } from '../../server/auth.ts';
import type { Api, ApiDeps } from '../../deps.ts';
import { refuseTakenNames } from '../../client-tools.ts';
import { stemOf } from '../../server/idempotency.ts';
import { problems } from '../../server/openapi.ts';
import { type Accepted, submitMessage } from '../../submit-message.ts';
import { hasEnded, hasEndedOrWaitsForApproval, waitForTurn } from '../../turn-wait.ts';

export const sessionParams = z.object({ key: sessionKeySchema });
export function addRoutes(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/sessions/:key/messages',
    {
      config: { scope: 'run', repeatable: true },
      schema: {
        tags: ['messages'],
        operationId: 'sendMessage',
        summary: 'Send a message',
        description:
          'Accepted with 202 once Temporal has it: from then on no crash loses it. With `?wait=` the answer comes with the end of the turn, or with 202 when the time is up before, and at once when it waits for an approval.',
        params: sessionParams,
        querystring: z.strictObject({ wait: waitSchema.optional() }),
        body: messageCreateSchema,
        response: {
          200: messageReceiptSchema,
          202: messageReceiptSchema,
          ...problems(
            'NotFound',
            'Conflict',
            'SessionBusy',
            'QueueFull',
            'TooLarge',
            'UnsupportedMedia',
            'Unprocessable',
          ),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { key } = request.params;
      const { text, mode, attachments: refs = [], ...context } = request.body;
      const { wait } = request.query;
      await refuseTakenNames(deps, caller.tenant, context.agent, context.client_tools);
      const session = await sessionOf(deps, caller.tenant, key, context);
      const place = { tenant: caller.tenant, session };
      const signal = endOf(reply);
      const waitFor = (seconds: number, id: string, isNew: boolean) =>
        waitForTurn(deps, { ...place, id }, { seconds, signal, isNew, isDone: hasEndedOrWaitsForApproval });
      const content = await withFiles(deps, caller.tenant, {
        text,
        user: userOf(caller, context.user),
        files: refs.map((artifact) => ({ artifact })),
        pointer: 'body/attachments',
      });
      const accepted = await submitMessage(deps, caller.tenant, {
        ...newId(request, caller, 'message', key),
        session,
        ...content,
        mode: mode ?? null,
        context: contextOf(caller, context),
        confinedTo: caller.confinedTo,
        waitFor: wait === undefined ? undefined : (id) => waitFor(wait, id, true),
      });
      if (wait === undefined) return reply.code(202).send(receiptOf(session, accepted));
      const turn = await (accepted.waited ?? waitFor(wait, accepted.receipt.turn_id, false));
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

async function sessionOf(
  { sessionOfChat }: ApiDeps,
  tenant: string,
  key: string,
  message: RequestContext,
): Promise<string> {
  return (await sessionOfChat?.(tenant, key, message)) ?? key;
}

/** An id that is derived from the Idempotency-Key, or one that nobody can guess. */
export function newId(
  request: FastifyRequest,
  caller: Caller,
  ...parts: readonly string[]
): { readonly id: string; readonly repeatable: boolean } {
  return idOf(stemOf(request, caller, ...parts));
}

export function idOf(stem: string | undefined): { readonly id: string; readonly repeatable: boolean } {
  return { id: `msg_${stem ?? randomBytes(16).toString('hex')}`, repeatable: stem !== undefined };
}

/** An id by what the client calls its request, so that the same from another key is the same message. */
export function namedId(
  { tenant }: Caller,
  ...names: readonly unknown[]
): { readonly id: string; readonly repeatable: true } {
  const digest = createHash('sha256')
    .update(JSON.stringify([tenant, ...names]))
    .digest('hex');
  return { id: `msg_${digest.slice(0, 32)}`, repeatable: true };
}

interface RequestContext {
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly channel?: string | undefined;
  readonly chat_id?: string | undefined;
  readonly allowed_tools?: readonly string[] | undefined;
  readonly client_tools?: readonly ClientTool[] | undefined;
}

export function contextOf(caller: Caller, context: RequestContext): MessageContext {
  const user = userOf(caller, context.user);
  return {
    agent: context.agent,
    user,
    channel: context.channel,
    chat_id: context.chat_id,
    allowed_tools: context.allowed_tools,
    client_tools: context.client_tools,
    roles: [...caller.scopes],
    key: caller.keyId,
    ...(caller.trace !== undefined && { trace: caller.trace }),
  };
}

/**
 * Aborted when the caller disconnects or has its answer, or when the server is about to stop, so that nothing waits in
 * vain.
 */
export function endOf({ raw, server }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // This is the event of the response: a request is closed as soon as it is read.
  raw.once('close', () => gone.abort());
  return AbortSignal.any([gone.signal, server.stopping]);
}

export function receiptOf(
  session: string,
  { receipt, workflowId }: Accepted,
): z.infer<typeof messageReceiptSchema> {
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
