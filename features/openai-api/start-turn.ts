/** Brings what is new in a conversation to its session, and says which turn answers. */
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { refuseTakenNames } from '#api/client-tools.ts';
import { decideAs } from '#api/approvals/decide-as.ts';
import type { ApiDeps } from '#api/deps.ts';
import { reachableSession } from '#api/found.ts';
import { contextOf, idOf } from '#api/routes/turns/messages.ts';
import { type Caller, requireScope } from '#api/server/auth.ts';
import { stemOf } from '#api/server/idempotency.ts';
import { submitMessage } from '#api/submit-message.ts';
import type { FollowedTurn } from '#api/turn-follower.ts';
import { Failure } from '#domain/errors.ts';
import { type ApprovalRow, findVisibleApproval } from '#store/approvals/approval-store.ts';
import { readLastEventIds } from '#store/event-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findOpenTurn } from '#store/turns/turn-store.ts';
import {
  type Conversation,
  digestOf,
  firstText,
  newPart,
  type NewPart,
  type ClientMessage,
} from './conversation.ts';
import { decidedAt, findConversation, keepConversation } from './store.ts';

export interface StartedTurn extends FollowedTurn {
  /** The answer is in later events of the session. */
  readonly after: number;
}

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
  const answered = await answerCalls(client, part);
  if (answered && part.text === '') return answered;
  const known = answered?.session ?? named ?? (await sessionOf(client, conversation, part));
  const stem = stemOf(client.request, caller, 'openai');
  const session = known ?? `chat-${stem ?? randomUUID()}`;
  const isNew = !(await reachableSession(deps.pool, caller, session));
  if (!isNew && !answered) await refuseWhileWaiting(client, session);
  const after = await lastEventOf(client, session);
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

/** Sends results and decisions; undefined when there are none. A repeated one changes nothing. */
async function answerCalls(
  client: ClientRequest,
  { results, decisions }: NewPart,
): Promise<StartedTurn | undefined> {
  const { deps, caller } = client;
  const required = [...results.map(({ call }) => call), ...decisions.map(({ approval }) => approval)];
  if (required.length === 0) return undefined;
  const rows = await Promise.all(required.map((id) => approvalOf(client, id)));
  const [first] = rows;
  if (!first || rows.some(({ turn_id: turn }) => turn !== first.turn_id))
    throw new Failure('InvalidInput', 'The results are of calls of several turns; send those of one');
  const started = {
    session: first.session_key,
    id: first.turn_id,
    // What follows an answer that was sent before is sent again.
    after:
      (await decidedAt(forTenant(deps.pool, caller.tenant), first)) ??
      (await lastEventOf(client, first.session_key)),
  };
  for (const [at, { text }] of results.entries()) {
    const row = rows[at];
    if (!row?.terms.client_tool)
      throw new Failure('InvalidInput', `${required[at]} is no call of a tool of yours; it needs a decision`);
    if (row.status === 'pending')
      await decideAs(deps, caller, row, { decision: 'respond', text: cutResult(text), digest: row.digest });
  }
  for (const [at, { approve, reason }] of decisions.entries()) {
    const row = rows[results.length + at];
    requireScope(caller, 'approve');
    if (row?.status !== 'pending') continue;
    const body = approve ? { decision: 'approve' as const } : { decision: 'reject' as const, reason };
    await decideAs(deps, caller, row, { ...body, digest: row.digest });
  }
  return started;
}

async function approvalOf({ deps, caller }: ClientRequest, id: string): Promise<ApprovalRow> {
  const row = await findVisibleApproval(forTenant(deps.pool, caller.tenant), caller, id);
  // Approvals of nobody's turns are seen by all, but only who reaches the conversation speaks in it.
  if (!row || !(await reachableSession(deps.pool, caller, row.session_key)))
    throw new Failure('NotFound', `There is no call ${id.slice(0, 200)}`);
  return row;
}

/** What a decision takes. */
const MAX_RESULT = 16_384;

function cutResult(text: string): string {
  if (text.length <= MAX_RESULT) return text || '(no output)';
  const end = `\n[cut: ${text.length} characters]`;
  return `${text.slice(0, MAX_RESULT - end.length)}${end}`;
}

/** A message would wait behind the turn, and its sender for an answer that nobody announces. */
async function refuseWhileWaiting({ deps, caller }: ClientRequest, session: string): Promise<void> {
  const open = await findOpenTurn(forTenant(deps.pool, caller.tenant), session);
  if (open?.status === 'waiting_approval')
    throw new Failure(
      'Conflict',
      `The conversation waits for an approval (turn ${open.id}); decide it, then send the message again`,
    );
}

async function lastEventOf({ deps, caller }: ClientRequest, session: string): Promise<number> {
  const [row] = await readLastEventIds(deps.pool, [{ tenant: caller.tenant, session }]);
  return row?.last ?? 0;
}
