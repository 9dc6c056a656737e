/** A turn as the events of a run, in the modes that the client asks for. */
import type { TurnFrames } from '#api/stream-turn.ts';
import type { TurnNews } from '#api/turn-follower.ts';
import { pauseOf, type TurnPause } from '#api/turn-pause.ts';
import type { StoredEvent } from '#domain/event.ts';
import { answerIdOf, isCallOf } from '#domain/ids.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { NODES, resultIdOf, shownMessage, type TurnMessage, valuesOf } from './state.ts';
import type { StreamMode } from './run-request.ts';

export interface FramedRun {
  readonly turn: string;
  readonly modes: readonly StreamMode[];
  /** The last event that the client has. */
  readonly from: number;
  readMessages(): Promise<readonly TurnMessage[]>;
}

/** Its follower begins with the turn, so that what the client has is known. */
export function createRunFrames({ turn, modes, from, readMessages }: FramedRun): {
  take(news: TurnNews): Promise<TurnFrames>;
} {
  const has = (mode: StreamMode): boolean => modes.includes(mode);
  /** Messages that the client has whole, and the texts of those that are being written. */
  const seen = new Set<string>();
  const written = new Map<string, string>();
  let last = from;
  let resets = 0;
  let isStarted = false;
  const frame = (event: string, data: unknown): string =>
    `${last > 0 ? `id: ${last}\n` : ''}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

  /** One piece of a message, with where in the graph it is written. */
  const piece = (message: object, node: string): string =>
    frame('messages', [message, { run_id: turn, langgraph_node: node }]);

  /** What the client has of an earlier stream. */
  function noteSeen({ type, data }: Pick<StoredEvent, 'type' | 'data'>): void {
    const call = String(data['call_id'] ?? '');
    if (type === 'message.completed') seen.add(answerIdOf(turn, Number(data['step'])));
    // An answer is shown with its calls, also those that wait.
    if (isCallOf(turn, call)) seen.add(answerIdOf(turn, stepOf(call)));
    if (type === 'tool.completed') seen.add(resultIdOf(call));
  }

  function takeEvent({ id, type, data }: StoredEvent): string[] {
    last = Math.max(last, id);
    const answer = answerIdOf(turn, Number(data['step']));
    const isKnown = id <= from;
    if (isKnown) noteSeen({ type, data });
    if (type === 'message.reset') resets += 1;
    if (type !== 'message.delta') return [];
    const text = String(data['text'] ?? '');
    const attempt = Number(data['attempt'] ?? 1);
    // What is written again is another message, because clients put the pieces of one together.
    const key = attempt + resets > 1 ? `${answer}~${attempt}.${resets}` : answer;
    written.set(key, (written.get(key) ?? '') + text);
    return isKnown || !has('messages-tuple') ? [] : [piece(chunkOf(key, text), NODES.agent)];
  }

  function takeMessage(message: TurnMessage): string[] {
    const isAnswer = message.type === 'ai';
    const node = isAnswer ? NODES.agent : NODES.tools;
    const shown = shownMessage(message);
    return [
      ...(has('messages-tuple') ? [isAnswer ? piece(restOf(message), node) : piece(shown, node)] : []),
      ...(has('messages') ? [frame('messages/complete', [shown])] : []),
      ...(has('updates') ? [frame('updates', { [node]: { messages: [shown] } })] : []),
    ];
  }

  /** What was not sent in pieces: all of an answer that was not streamed, and its calls. */
  function restOf({ id, content, tool_calls = [] }: TurnMessage): object {
    const before = written.get(id) ?? '';
    const rest = content.startsWith(before) ? content.slice(before.length) : '';
    const chunks = tool_calls.map(({ id, name, args }, index) => ({
      type: 'tool_call_chunk',
      id,
      name,
      args: JSON.stringify(args),
      index,
    }));
    return { ...chunkOf(id, rest), tool_calls, tool_call_chunks: chunks };
  }

  return {
    async take(news) {
      const pause = pauseOf(news);
      const pieces = news.events.flatMap(takeEvent);
      const frames = isStarted ? [] : [frame('metadata', { run_id: turn, attempt: 1 })];
      frames.push(...pieces);
      if (has('messages')) frames.push(...partials(news.events));
      const hasNew = news.events.some(({ id, type }) => id > from && STEPS.has(type));
      if (!isStarted || hasNew || pause) {
        const messages = await readMessages();
        const added = messages.filter(
          (one) => one.turn === turn && one.type !== 'human' && !seen.has(one.id),
        );
        for (const message of added) seen.add(message.id);
        const { waits, error } = waitsIn(pause);
        frames.push(...added.flatMap(takeMessage));
        if (has('values')) frames.push(frame('values', valuesOf(messages, waits)));
        if (waits.length > 0 && has('updates'))
          frames.push(frame('updates', { __interrupt__: valuesOf([], waits).__interrupt__ }));
        if (error) frames.push(frame('error', { error: error.code, message: error.message }));
      }
      isStarted = true;
      return { frames, isOver: pause !== undefined };
    },
  };

  /** The texts that have grown, whole. */
  function partials(events: readonly StoredEvent[]): string[] {
    const grown = events.findLast(({ id, type }) => id > from && type === 'message.delta');
    const key = grown && answerIdOf(turn, Number(grown.data['step']));
    const content = key && written.get(key);
    if (!key || content === undefined || seen.has(key)) return [];
    const message: TurnMessage = { type: 'ai', id: key, content, tool_calls: [], turn };
    return [frame('messages/partial', [shownMessage(message)])];
  }
}

/** Events after which the transcript has something new. */
const STEPS: ReadonlySet<string> = new Set(['message.completed', 'tool.started', 'tool.completed']);

function stepOf(call: string): number {
  return Number(/\.(\d+)\.\d+$/.exec(call)?.[1]);
}

function chunkOf(id: string, content: string): object {
  return {
    type: 'AIMessageChunk',
    id,
    content,
    tool_calls: [],
    tool_call_chunks: [],
    additional_kwargs: {},
    response_metadata: {},
  };
}

/** Why a run is over for its client. The oldest first, as the decisions of a client that names no ids follow each other. */
export function waitsIn(pause: TurnPause | undefined): {
  readonly waits: readonly ApprovalRow[];
  readonly error?: TurnRow['error'];
} {
  switch (pause?.kind) {
    case 'calls':
      return { waits: pause.calls.toReversed() };
    case 'approvals':
      return { waits: pause.approvals.toReversed() };
    case 'ended':
      return { waits: [], error: pause.turn.error };
    default:
      return { waits: [] };
  }
}
