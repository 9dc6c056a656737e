/** Messages: the API writes a user's message before it submits it, so that an accepted one is never lost. */
import { NO_MODEL } from '#domain/model/model.ts';
import { sql } from 'kysely';
import type { Attachment } from '#domain/files/attachment.ts';
import type { MessageContext, SubmitMode } from '#domain/turn/turn.ts';
import { execute, readRow, readRows, type RowOf } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import { noteReading } from './session-writes.ts';

export interface MessageRow
  extends RowOf<
    'messages',
    'session_key' | 'mode' | 'context' | 'calls' | 'attachments' | 'position' | Costs
  > {
  readonly position: string;
  readonly calls: readonly { readonly id?: string; readonly tool: string; readonly args: object }[] | null;
}

type Costs = 'budget_root' | 'finish' | 'attempt' | 'usage' | 'usd';

export interface NewMessage {
  readonly id: string;
  readonly session: string;
  readonly text: string;
  readonly mode: SubmitMode | null;
  readonly context: MessageContext;
  /** Calls that run in place of a model call (tools invoke). */
  readonly calls?: readonly InvokedCall[];
  readonly attachments?: readonly Attachment[] | undefined;
  /** The use of its session counts for this team (DU-7). */
  readonly team?: string;
  /** The text comes only from the session's user: addresses in it are known (PO-5). */
  readonly isOwn?: boolean | undefined;
  /** The turn that sends this: the use of the turn that it starts also counts for that one (DU-7). */
  readonly from?: TurnPlace | undefined;
  /** The sessions whose text it contains; by default that of `from`. */
  readonly sourceSessions?: readonly string[] | undefined;
  /** It is written only into a session of this user, or a new one; absent or null means any session. */
  readonly confinedTo?: string | null | undefined;
  /** It begins new work, so it is written only while the tenant is not frozen. */
  readonly isNewWork?: boolean | undefined;
}

export interface TurnPlace {
  readonly session: string;
  readonly turn: string;
}

export interface InvokedCall {
  readonly tool: string;
  /** Arguments as people may see them. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The real arguments, where they differ; bound to invocationPlace. */
  readonly sealed?: string;
}

/** The place that the sealed arguments of a call over the API are bound to: its turn's first message contains them. */
export function invocationPlace(tenant: string, turnId: string): string {
  return `${tenant}/invocations/${turnId}`;
}

export interface WrittenMessage {
  /** The agent of the session, new or existing; null when the agent does not exist (then nothing was written). */
  readonly agent_key: string | null;
  /** The agent's setting `visible`. */
  readonly is_visible: boolean;
  /** The session belongs to another user than the one the message is confined to; nothing was written. */
  readonly is_foreign: boolean;
  /** Why the tenant is frozen; then a message of new work was not written. */
  readonly frozen_for: string | null;
  /** False when the row already existed. */
  readonly written: boolean;
  readonly session_key: string | null;
  readonly turn_id: string | null;
  readonly text: string | null;
}

/**
 * Writes a message, and its session if it is the first, unless the session has another agent than the expected one.
 * Undefined when another request created the session or the message at the same moment: a repeated call then finds it.
 */
async function tryWrite(db: TenantDb, message: NewMessage): Promise<WrittenMessage | undefined> {
  const { context } = message;
  const { rows } = await db.unbound.query<WrittenMessage & { raced: boolean }>(
    `with old as (select agent_key, $15::text is not null and user_id is distinct from $15 as is_foreign
       from sessions where tenant_id = $1 and key = $2),
     frozen as (select frozen_for from tenants where id = $1 and frozen_at is not null and $18),
     wanted as (select key from agents where tenant_id = $1 and key = coalesce($3, 'main') and deleted_at is null
       and not exists (select from frozen)),
     made as (
       insert into sessions (tenant_id, key, agent_key, user_id, channel, chat_id, budget_root)
       select $1, $2, wanted.key, $4, $5, $6, $12 from wanted where not exists (select 1 from old)
       on conflict do nothing returning agent_key),
     agent as (select agent_key from old union all select agent_key from made),
     counted as (
       update sessions set budget_root = $12 where $12::jsonb is not null and tenant_id = $1 and key = $2 and budget_root is null),
     said as (
       insert into messages (tenant_id, id, session_key, role, text, mode, context, calls, attachments, is_own, budget_root)
       select $1, $7, $2, 'user', $8, $9, $10, $11, $16, $17, case when $13::text is not null then budget_root_of($1, $13, $14) end
       from agent where ($3::text is null or agent.agent_key = $3) and not exists (select 1 from old where is_foreign)
         and not exists (select from frozen)
       on conflict do nothing returning id)
     select (select agent_key from agent) as agent_key,
       exists (select 1 from agents g join agent on g.key = agent_key where g.tenant_id = $1 and (g.config -> 'visible')::boolean) as is_visible,
       coalesce((select is_foreign from old), false) as is_foreign,
       (select frozen_for from frozen),
       exists (select 1 from said) as written,
       m.session_key, m.turn_id, m.text,
       not exists (select from frozen) and (exists (select 1 from wanted) and not exists (select 1 from agent)
         or exists (select 1 from agent where $3::text is null or agent_key = $3)
           and not exists (select 1 from said) and m.id is null and not exists (select 1 from old where is_foreign)) as raced
     from (select 1) as one left join messages m on m.tenant_id = $1 and m.id = $7`,
    [
      db.tenant,
      message.session,
      context.agent ?? null,
      context.user ?? null,
      context.channel ?? null,
      context.chat_id ?? null,
      message.id,
      message.text,
      message.mode,
      JSON.stringify(context),
      asJson(message.calls),
      message.team === undefined ? null : JSON.stringify({ team: [message.team] }),
      message.from?.session ?? null,
      message.from?.turn ?? null,
      message.confinedTo ?? null,
      asJson(message.attachments),
      message.isOwn ?? false,
      message.isNewWork ?? false,
    ],
  );
  const row = rows[0];
  return row && !row.raced ? row : undefined;
}

function asJson(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** Safe to repeat: an id is written once. */
export async function writeMessage(db: TenantDb, message: NewMessage): Promise<WrittenMessage> {
  const written = (await tryWrite(db, message)) ?? (await tryWrite(db, message));
  if (!written) throw new Error(`message ${message.id} is neither there nor can it be made`);
  const { session, from, sourceSessions = from ? [from.session] : [] } = message;
  const { read } = message.context;
  if (read) await execute(db)`select note_used(${db}, ${session}, ${JSON.stringify(read)}::jsonb)`;
  // This comes before any notification, because the text may come from outside (PO-5).
  await noteReading(db, session, sourceSessions);
  return written;
}

/** The turn that took the message; null when none has; undefined when the message does not exist. */
export async function turnOfMessage(db: TenantDb, id: string): Promise<string | null | undefined> {
  const row = await readRow<{ turn_id: string | null }>(db)`
    select turn_id from messages where tenant_id = ${db} and id = ${id}`;
  return row?.turn_id;
}

/** Whether the session has no message but this one, or does not exist. */
export async function isFirstMessage(db: TenantDb, session: string, id: string): Promise<boolean> {
  const row = await readRow<{ exists: boolean }>(db)`
    select exists (select from messages where tenant_id = ${db} and session_key = ${session} and id <> ${id}
      and created_at <= coalesce((select created_at from messages where tenant_id = ${db} and id = ${id}), now()))`;
  return row?.exists !== true;
}

/** The message as it was written, while no turn has taken it. */
export function findUntaken(
  db: TenantDb,
  id: string,
): Promise<Pick<NewMessage, 'session' | 'text' | 'context'> | undefined> {
  return readRow<Pick<NewMessage, 'session' | 'text' | 'context'>>(db)`
    select session_key as session, text, context from messages
    where tenant_id = ${db} and id = ${id} and turn_id is null`;
}

/** Deletes a message that was refused: no turn has taken it or will. */
export async function deleteRefusedMessage(db: TenantDb, id: string): Promise<void> {
  await execute(db)`delete from messages where tenant_id = ${db} and id = ${id} and turn_id is null`;
}

/** Deletes a session whose only message was refused. */
export async function deleteEmptySession(db: TenantDb, key: string): Promise<void> {
  await execute(db)`
    delete from sessions s where tenant_id = ${db} and key = ${key} and position = 0 and event_seq = 0
       and not exists (select 1 from messages m where m.tenant_id = ${db} and m.session_key = ${key})
       and not exists (select 1 from turns t where t.tenant_id = ${db} and t.session_key = ${key})`;
}

/** The transcript in order; `after` is the position of the last row on the previous page. */
export function listMessages(
  db: TenantDb,
  session: string,
  order: 'asc' | 'desc',
  limit: number,
  after: string | undefined,
): Promise<MessageRow[]> {
  const newest = order === 'desc';
  return readRows<MessageRow>(db)`
    select id, role, text, turn_id, step, position, calls, model, created_at from messages
     where tenant_id = ${db} and session_key = ${session} and position is not null
       and (${after}::bigint is null or position ${newest ? sql`<` : sql`>`} ${after})
     order by position ${newest ? sql`desc` : sql`asc`} limit ${limit}`;
}

/** Records the decision of hooks on a message, and its remaining text. Safe to repeat. */
export async function markHooked(
  db: TenantDb,
  session: string,
  position: number,
  { decision, text }: { readonly decision: 'allow' | 'deny'; readonly text: string },
): Promise<void> {
  await execute(db)`
    update messages set text = ${text}, hooked = ${decision}
    where tenant_id = ${db} and session_key = ${session} and position = ${position}`;
}

/**
 * Whether the session has begun before the position: a model has answered in it, or hooks have let a prompt through. A
 * message that was stopped before its hooks had run, and a call of a tool by a person, begin nothing.
 */
export async function hasStartedBefore(db: TenantDb, session: string, position: number): Promise<boolean> {
  const row = await readRow<{ exists: boolean }>(db)`
    select exists (select from messages where tenant_id = ${db} and session_key = ${session} and position < ${position}
      and (role = 'user' and hooked = 'allow' or role = 'assistant' and model is distinct from ${NO_MODEL}))`;
  return row?.exists === true;
}
