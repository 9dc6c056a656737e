/** Brings what is new in a conversation to its session, and says which turn answers. */
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { answerCalls, refuseWhileWaiting } from '#api/answer-calls.ts';
import { refuseTakenNames } from '#api/client-tools.ts';
import type { ApiDeps } from '#api/deps.ts';
import { reachableSession } from '#api/found.ts';
import { contextOf, idOf } from '#api/routes/turns/messages.ts';
import type { Caller } from '#api/server/auth.ts';
import { stemOf } from '#api/server/idempotency.ts';
import { submitMessage } from '#api/submit-message.ts';
import { lastEventOf, type StartedTurn } from '#api/turn-follower.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import {
  type ClientMessage,
  type Conversation,
  digestOf,
  firstText,
  newPart,
  type NewPart,
} from './conversation.ts';
import { findConversation, keepConversation } from './store.ts';

export interface ClientRequest {
  readonly deps: ApiDeps;
  readonly caller: Caller;
  readonly request: FastifyRequest;
}

/** `named`: the session that the client names. Throws as sending a message and deciding do. */
export async function startTurn(
  client: ClientRequest,
  conversation: Conversation,
  named: string | undefined,
): Promise<StartedTurn> {
  const { deps, caller } = client;
  const part = newPart(conversation.messages);
  await refuseTakenNames(deps, caller.tenant, conversation.agent, conversation.tools);
  const answered = await answerCalls(deps, caller, part);
  if (answered && part.text === '') return answered;
  const known = answered?.session ?? named ?? (await sessionOf(client, conversation, part));
  const stem = stemOf(client.request, caller, 'openai');
  const session = known ?? `chat-${stem ?? randomUUID()}`;
  const isNew = !(await reachableSession(deps.pool, caller, session));
  if (!isNew && !answered) await refuseWhileWaiting(deps, caller.tenant, session);
  const after = await lastEventOf(deps, caller.tenant, session);
  const { receipt, keepTurn } = await submitMessage(deps, caller.tenant, {
    ...idOf(stem),
    session,
    text: isNew ? firstText(conversation, part) : part.text,
    mode: answered ? 'steer' : null,
    context: contextOf(caller, {
      agent: conversation.agent,
      user: conversation.user,
      client_tools: conversation.tools.length > 0 ? conversation.tools : undefined,
    }),
    confinedTo: caller.confinedTo,
  });
  await keepTurn();
  return { session, id: receipt.turn_id, after: answered?.after ?? after };
}

/** Remembers that the session has the conversation up to this answer. */
export async function keepAnswer(
  { deps, caller }: ClientRequest,
  { agent, messages }: Conversation,
  session: string,
  answer: string,
): Promise<void> {
  const all: ClientMessage[] = [...messages, { role: 'assistant', text: answer }];
  await keepConversation(forTenant(deps.pool, caller.tenant), digestOf(ownerOf(caller), agent, all), session);
}

async function sessionOf(
  { deps, caller }: ClientRequest,
  { agent }: Conversation,
  { before }: NewPart,
): Promise<string | undefined> {
  if (before.length === 0) return undefined;
  const db = forTenant(deps.pool, caller.tenant);
  const session = await findConversation(db, digestOf(ownerOf(caller), agent, before));
  return session !== undefined && (await reachableSession(deps.pool, caller, session)) ? session : undefined;
}

/** Other keys of a user continue that user's conversations. */
function ownerOf({ user, keyId }: Caller): string {
  return user === null ? `key:${keyId}` : `user:${user}`;
}
