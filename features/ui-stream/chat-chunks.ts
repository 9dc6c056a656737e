/** A turn as chunks of the AI SDK's UI message stream, version 1. */
import type { CallArguments } from '#api/call-arguments.ts';
import type { StoredEvent } from '#domain/event.ts';
import type { TurnNews } from '#api/turn-follower.ts';
import { pauseOf, type TurnPause } from '#api/turn-pause.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';

export type Chunk = { readonly type: string; readonly [field: string]: unknown };

export interface ChatChunks {
  /** Takes what happened; the last chunks end the message. */
  take(
    news: TurnNews,
    args: CallArguments,
  ): { readonly chunks: readonly Chunk[]; readonly pause?: TurnPause | undefined };
}

/** `known`: calls that the client has seen. */
export function createChatChunks(turn: string, known: readonly string[] = []): ChatChunks {
  const calls = new Set(known);
  const writing = createWriting();
  let isStarted = false;
  const call = (id: string, toolName: unknown, input: unknown): Chunk[] => {
    if (calls.has(id)) return [];
    calls.add(id);
    return [{ type: 'tool-input-available', toolCallId: id, toolName, input, ...OURS }];
  };
  const chunksOf = ({ type, data }: StoredEvent, args: CallArguments): Chunk[] => {
    const id = String(data['call_id'] ?? '');
    const text = typeof data['text'] === 'string' ? data['text'] : '';
    switch (type) {
      case 'turn.held':
        return [{ type: 'data-held', data: { reason: data['reason'] }, transient: true }];
      case 'message.thinking':
        return [...writing.step(data['step']), ...writing.think(text)];
      case 'message.delta':
        return [
          ...writing.step(data['step']),
          ...writing.add(`${String(data['step'])}.${String(data['attempt'])}`, text),
        ];
      case 'message.completed':
        return [...writing.step(data['step']), ...writing.complete(String(data['step']), text)];
      case 'message.reset':
        return writing.reset();
      case 'tool.started':
        return [
          ...writing.step(data['step']),
          ...writing.close(),
          ...call(id, data['tool'], args.get(id) ?? {}),
        ];
      case 'tool.completed':
        return calls.has(id) ? [resultChunk(id, data)] : [];
      default:
        return [];
    }
  };
  const waiting = (approval: ApprovalRow): Chunk[] => {
    const { id, call_id, tool, args, reason, terms } = approval;
    // The front end runs it: its result is the answer to this id.
    if (terms.client_tool)
      return [{ type: 'tool-input-available', toolCallId: id, toolName: tool, input: args, dynamic: true }];
    const request = { type: 'tool-approval-request', approvalId: id, toolCallId: call_id };
    return [...call(call_id, tool, args), { ...request, ...(reason !== null && { reason }) }];
  };
  return {
    take(news, args) {
      const pause = pauseOf(news);
      const first = isStarted ? [] : [{ type: 'start', messageId: turn }];
      isStarted = true;
      const chunks = [...first, ...news.events.flatMap((event) => chunksOf(event, args))];
      if (!pause) return { chunks };
      const approvals =
        pause.kind === 'calls' ? pause.calls : pause.kind === 'approvals' ? pause.approvals : [];
      return {
        chunks: [...chunks, ...approvals.flatMap(waiting), ...writing.end(), lastChunk(pause)],
        pause,
      };
    },
  };
}

/** Texts and steps, each of which has a beginning and an end. */
function createWriting() {
  let current: unknown;
  let text: { readonly id: string; written: string } | undefined;
  let thought: string | undefined;
  let thoughts = 0;
  const endThought = (): Chunk[] => {
    const chunks = thought === undefined ? [] : [{ type: 'reasoning-end', id: thought }];
    thought = undefined;
    return chunks;
  };
  const close = (): Chunk[] => {
    const chunks = [...endThought(), ...(text ? [{ type: 'text-end', id: text.id }] : [])];
    text = undefined;
    return chunks;
  };
  const add = (id: string, delta: string): Chunk[] => {
    if (delta === '') return [];
    const opening = text?.id === id ? endThought() : [...close(), { type: 'text-start', id }];
    text ??= { id, written: '' };
    text.written += delta;
    return [...opening, { type: 'text-delta', id, delta }];
  };
  const end = (): Chunk[] => {
    const chunks = current === undefined ? [] : [...close(), { type: 'finish-step' }];
    current = undefined;
    return chunks;
  };
  return {
    close,
    add,
    end,
    think(delta: string): Chunk[] {
      if (delta === '') return [];
      if (thought === undefined) thoughts += 1;
      const opening = thought === undefined ? [{ type: 'reasoning-start', id: `thought.${thoughts}` }] : [];
      thought = `thought.${thoughts}`;
      return [...opening, { type: 'reasoning-delta', id: thought, delta }];
    },
    step(next: unknown): Chunk[] {
      if (next === current || next === undefined) return [];
      const chunks = [...end(), { type: 'start-step' }];
      current = next;
      return chunks;
    },
    /** The whole text of the step, of which the beginning may have been sent. */
    complete(id: string, whole: string): Chunk[] {
      const written = text?.written ?? '';
      const rest = whole.startsWith(written) ? whole.slice(written.length) : '';
      return [...add(text?.id ?? id, rest), ...close()];
    },
    /** Another model writes the step again. */
    reset(): Chunk[] {
      text = undefined;
      thought = undefined;
      return current === undefined ? [] : [{ type: 'reset-step' }];
    },
  };
}

/** A tool that is not one of the front end. */
const OURS = { dynamic: true, providerExecuted: true } as const;

function resultChunk(toolCallId: string, { ok, code, preview }: StoredEvent['data']): Chunk {
  if (ok === true) return { type: 'tool-output-available', toolCallId, output: preview ?? '', ...OURS };
  if (code === 'ApprovalDenied') return { type: 'tool-output-denied', toolCallId };
  const errorText = [code, preview].filter(Boolean).join(': ');
  return { type: 'tool-output-error', toolCallId, errorText, ...OURS };
}

function lastChunk(pause: TurnPause): Chunk {
  if (pause.kind !== 'ended') return { type: 'finish', finishReason: 'tool-calls' };
  const { status, error } = pause.turn;
  if (error) return { type: 'error', errorText: `${error.code}: ${error.message}` };
  if (status === 'stopped') return { type: 'abort', reason: 'The turn was stopped.' };
  return { type: 'finish', finishReason: 'stop' };
}
