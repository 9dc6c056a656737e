/** Brings what is new in a conversation to its session, and says which turn answers. */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { answerCalls } from '#api/answer-calls.ts';
import { refuseTakenNames } from '#api/client-tools.ts';
import type { ApiDeps } from '#api/deps.ts';
import { contextOf, idOf } from '#api/routes/turns/messages.ts';
import type { Caller } from '#api/server/auth.ts';
import { stemOf } from '#api/server/idempotency.ts';
import { startTurn } from '#api/start-turn.ts';
import type { StartedTurn } from '#api/turn-follower.ts';
import { turnIdOf } from '#domain/ids.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { isFirstMessage } from '#store/turns/message-store.ts';
import { type ClientMessage, type Conversation, digestOf, firstText, newPart } from './conversation.ts';
import { findConversation, keepConversation } from './store.ts';

export interface ClientRequest {
  readonly deps: ApiDeps;
  readonly caller: Caller;
  readonly request: FastifyRequest;
}

/** `named`: the session that the client names. Throws as sending a message and deciding do. */
export async function continueConversation(
  { deps, caller, request }: ClientRequest,
  conversation: Conversation,
  named: string | undefined,
): Promise<StartedTurn> {
  const { agent, user, tools } = conversation;
  const part = newPart(conversation.messages);
  await refuseTakenNames(deps, caller.tenant, agent, tools);
  const answered = await answerCalls(deps, caller, part);
  if (answered && part.text === '' && part.files.length === 0) return answered;
  const db = forTenant(deps.pool, caller.tenant);
  const stem = stemOf(request, caller, 'openai') ?? randomBytes(16).toString('hex');
  const { id } = idOf(stem);
  const digest = digestOf(ownerOf(caller, conversation), agent, part.before);
  const known =
    answered?.session ??
    named ??
    (part.before.length > 0 ? await findConversation(db, digest, turnIdOf(id)) : undefined);
  const session = known ?? `chat-${stem}`;
  return startTurn(deps, caller, {
    id,
    repeatable: request.headers['idempotency-key'] !== undefined,
    session,
    // The same again for a repeat.
    text: (await isFirstMessage(db, session, id)) ? firstText(conversation, part) : part.text,
    files: part.files,
    mode: answered ? 'steer' : null,
    context: contextOf(caller, { agent, user, client_tools: tools.length > 0 ? tools : undefined }),
  });
}

/** Remembers that the session has the conversation up to this answer, which is the turn's. */
export async function keepAnswer(
  { deps, caller }: ClientRequest,
  conversation: Conversation,
  { session, id }: StartedTurn,
  answer: string,
): Promise<void> {
  const all: ClientMessage[] = [...conversation.messages, { role: 'assistant', text: answer }];
  const digest = digestOf(ownerOf(caller, conversation), conversation.agent, all);
  await keepConversation(forTenant(deps.pool, caller.tenant), digest, { session, turn: id });
}

/** Other keys of a user continue that user's conversations. A key of many users names theirs. */
function ownerOf({ user, keyId }: Caller, conversation: Conversation): string {
  const owner = user === null ? `key:${keyId}` : `user:${user}`;
  return conversation.user === undefined ? owner : `${owner} for:${conversation.user}`;
}
