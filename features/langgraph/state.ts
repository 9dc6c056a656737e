/** A session as a thread: what was said as LangChain's messages, and what waits as interrupts. */
import type { Interrupt, Run, Thread, ThreadState } from '@langchain/langgraph-sdk';
import { formLines } from '#domain/form.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
import type { Caller } from '#api/server/auth.ts';
import { type ApprovalRow, listApprovals } from '#store/approvals/approval-store.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { SessionRow } from '#store/turns/session-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { listSpoken, type Spoken, type SpokenCall } from './store.ts';

/** The state of a thread has its last messages. */
const MAX_SPOKEN = 200;

interface Message {
  readonly type: 'human' | 'ai' | 'tool';
  readonly id: string;
  readonly content: string;
  readonly tool_calls?: readonly { id: string; name: string; args: object; type: 'tool_call' }[];
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly status?: 'success' | 'error';
}

export interface TurnMessage extends Message {
  readonly turn: string;
}

export async function readMessages(db: TenantDb, session: string): Promise<TurnMessage[]> {
  const spoken = await listSpoken(db, session, MAX_SPOKEN);
  return spoken.flatMap((one) => messagesOf(one).map((message) => ({ ...message, turn: one.turn_id })));
}

/** As clients get it. */
export function shownMessage(message: TurnMessage): object {
  const { turn: _, ...shown } = message;
  return { ...shown, additional_kwargs: {}, response_metadata: {} };
}

function messagesOf({ id, role, text, calls }: Spoken): Message[] {
  if (role === 'user') return [{ type: 'human', id, content: text }];
  const called = calls ?? [];
  const tool_calls = called.map(({ id, tool: name, args }) => ({
    id,
    name,
    args,
    type: 'tool_call' as const,
  }));
  return [{ type: 'ai', id, content: text, tool_calls }, ...called.flatMap(resultOf)];
}

function resultOf({ id, tool: name, state, ok, code, result }: SpokenCall): Message[] {
  if (state !== 'done') return [];
  const content = ok ? (result ?? '') : [code, result].filter(Boolean).join(': ');
  return [
    { type: 'tool', id: resultIdOf(id), tool_call_id: id, name, content, status: ok ? 'success' : 'error' },
  ];
}

export function resultIdOf(call: string): string {
  return `${call}.result`;
}

/** A step makes at most as many calls. */
const MAX_WAITING = 64;

/** What the caller sees of what the running turn, or work below it, waits for: the oldest first. */
export async function readWaits(
  db: TenantDb,
  caller: Caller,
  { key: session, open_turn: turn }: SessionRow,
): Promise<readonly ApprovalRow[]> {
  if (turn === null) return [];
  const filter = { status: 'pending', requestedOn: { session, turn } } as const;
  return (await listApprovals(db, caller, filter, MAX_WAITING, undefined)).toReversed();
}

export interface Values {
  readonly messages: readonly object[];
  readonly __interrupt__?: readonly Interrupt[];
  readonly __error__?: { readonly error: string; readonly message: string };
}

export function valuesOf(
  messages: readonly TurnMessage[],
  waits: readonly ApprovalRow[] = [],
  error?: TurnRow['error'],
): Values {
  return {
    messages: messages.map(shownMessage),
    ...(waits.length > 0 && { __interrupt__: waits.map(interruptOf) }),
    ...(error && { __error__: { error: error.code, message: error.message } }),
  };
}

/** In the form of LangChain's middleware for people, which its front ends know. */
export function interruptOf({
  id,
  tool,
  args,
  summary,
  reason,
  form,
  terms,
  is_masked,
}: ApprovalRow): Interrupt {
  const words = form ? formLines(form) : [showHidden(summary), ...(reason === null ? [] : [reason])];
  const decisions = form || !is_masked ? ['approve', 'edit', 'reject'] : ['approve', 'reject'];
  return {
    id,
    value: {
      action_requests: [{ name: tool, args, description: words.join('\n') }],
      // The sender of the message runs this one, and only its result is an answer.
      review_configs: [{ action_name: tool, allowed_decisions: terms.client_tool ? [] : decisions }],
      ...(form && { form }),
    },
  };
}

const RUN_STATUS: Readonly<Record<string, Run['status']>> = {
  queued: 'pending',
  running: 'running',
  waiting_approval: 'interrupted',
  completed: 'success',
  failed: 'error',
  stopped: 'interrupted',
};

export function runOf({ id, session_key, agent_key, status, created_at, ...turn }: TurnRow): Run {
  return {
    run_id: id,
    thread_id: session_key,
    assistant_id: agent_key,
    created_at: created_at.toISOString(),
    updated_at: (turn.ended_at ?? turn.started_at ?? created_at).toISOString(),
    status: RUN_STATUS[status] ?? 'pending',
    metadata: {},
    multitask_strategy: 'enqueue',
  };
}

/** `row` is undefined for a thread in which nothing was said. */
export function threadOf(thread_id: string, row: SessionRow | undefined): Thread {
  const now = new Date();
  const open = row?.open_status === 'waiting_approval' ? 'interrupted' : 'busy';
  return {
    thread_id,
    created_at: (row?.created_at ?? now).toISOString(),
    updated_at: (row?.updated_at ?? now).toISOString(),
    state_updated_at: (row?.updated_at ?? now).toISOString(),
    metadata: row ? { graph_id: row.agent_key, assistant_id: row.agent_key } : {},
    status: row?.open_turn ? open : 'idle',
    values: {},
    interrupts: {},
  } as Thread;
}

/** The state after each of these turns, of which the first is the newest. */
export function statesOf(
  thread_id: string,
  turns: readonly TurnRow[],
  messages: readonly TurnMessage[],
  waits: readonly ApprovalRow[],
): ThreadState[] {
  const checkpointOf = (turn: TurnRow | undefined) => ({
    thread_id,
    checkpoint_ns: '',
    checkpoint_id: turn?.id ?? null,
    checkpoint_map: null,
  });
  return turns.map((turn, at) => {
    const end = messages.findLastIndex((one) => one.turn === turn.id) + 1;
    const isOpen = turn.ended_at === null;
    const interrupts = isOpen ? waits.map(interruptOf) : [];
    const task = { id: turn.id, name: NODES.agent, interrupts, error: turn.error?.message ?? null };
    return {
      values: { ...valuesOf(messages.slice(0, end), isOpen ? waits : []) },
      next: isOpen ? [NODES.agent] : [],
      checkpoint: checkpointOf(turn),
      metadata: { run_id: turn.id },
      created_at: (turn.ended_at ?? turn.created_at).toISOString(),
      parent_checkpoint: turns[at + 1] ? checkpointOf(turns[at + 1]) : null,
      tasks: isOpen || turn.error ? [{ ...task, checkpoint: null, state: null }] : [],
    };
  });
}

/** What clients see of the graph that an agent would be. */
export const NODES = { agent: 'agent', tools: 'tools' } as const;
