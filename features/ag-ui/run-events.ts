/** A turn as events of a run of AG-UI 1.0. A turn that waits is several runs, one after the other. */
import { type AGUIEvent, EventType, PROTOCOL_VERSION, type RunFinishedOutcome } from '@ag-ui/core';
import type { CallArguments } from '#api/call-arguments.ts';
import type { TurnNews } from '#api/turn-follower.ts';
import { pauseOf, type TurnPause } from '#api/turn-pause.ts';
import type { StoredEvent } from '#domain/event.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { interruptOf } from './interrupts.ts';
import type { Seen } from './run-input.ts';
import { createThinkingEvents } from './thinking-events.ts';

export interface Run {
  readonly threadId: string;
  readonly runId: string;
  /** The run that started this one, as the client says. */
  readonly parentRunId?: string | undefined;
}

export interface RunEvents {
  /** Takes what happened; the run is over with the last events. */
  take(
    news: TurnNews,
    args: CallArguments,
  ): { readonly events: readonly AGUIEvent[]; readonly isOver: boolean };
}

export function createRunEvents({ threadId, runId, parentRunId }: Run, turn: string, seen: Seen): RunEvents {
  const run = { threadId, runId };
  const calls = new Set(seen.calls);
  const writing = createWriting(turn, seen.texts);
  const thinking = createThinkingEvents(turn, seen.texts);
  let isStarted = false;

  function call(id: string, name: string, args: object, parent: string): AGUIEvent[] {
    if (calls.has(id)) return [];
    calls.add(id);
    return [
      { type: EventType.TOOL_CALL_START, toolCallId: id, toolCallName: name, parentMessageId: parent },
      { type: EventType.TOOL_CALL_ARGS, toolCallId: id, delta: JSON.stringify(args) },
      { type: EventType.TOOL_CALL_END, toolCallId: id },
    ];
  }

  /** A text may go on after a thought, but a thought ends with whatever follows it. */
  function takeEvent(event: StoredEvent, args: CallArguments): AGUIEvent[] {
    const { type, data } = event;
    if (type !== 'message.thinking') return [...thinking.close(), ...eventsOf(event, args)];
    return thinking.add(String(data['step']), String(data['attempt']), String(data['text'] ?? ''));
  }

  function eventsOf({ type, data }: StoredEvent, args: CallArguments): AGUIEvent[] {
    const id = String(data['call_id'] ?? '');
    const text = typeof data['text'] === 'string' ? data['text'] : '';
    switch (type) {
      case 'turn.held':
        return [{ type: EventType.CUSTOM, name: type, value: { reason: data['reason'] } }];
      case 'message.delta':
        return writing.add(String(data['step']), String(data['attempt']), text);
      case 'message.completed':
        return writing.complete(String(data['step']), text);
      case 'message.reset':
        return writing.close();
      case 'tool.started':
        return [...writing.close(), ...call(id, String(data['tool']), args.get(id) ?? {}, stepOf(id))];
      case 'tool.completed':
        return calls.has(id) && !seen.results.has(id) ? [resultEvent(id, data)] : [];
      default:
        return [];
    }
  }

  /** Shown with their arguments before the run says that they wait. */
  function waiting({ id, call_id, turn_id, tool, args, terms }: ApprovalRow): AGUIEvent[] {
    if (terms.client_tool) return call(id, tool, args, stepOf(call_id));
    return turn_id === turn ? call(call_id, tool, args, stepOf(call_id)) : [];
  }

  return {
    take(news, args) {
      const pause = pauseOf(news);
      const first: AGUIEvent[] = isStarted ? [] : [{ ...STARTED, ...run, parentRunId }];
      isStarted = true;
      const events = [...first, ...news.events.flatMap((event) => takeEvent(event, args))];
      if (!pause) return { events, isOver: false };
      const shown = pause.kind === 'ended' ? [] : waitsOf(pause).flatMap(waiting);
      return {
        events: [...events, ...thinking.close(), ...writing.close(), ...shown, endEvent(run, turn, pause)],
        isOver: true,
      };
    },
  };
}

/**
 * Texts, each of which is a message with a beginning and an end. A step that is written again has several. Only what the
 * client does not have is sent.
 */
function createWriting(turn: string, seen: Seen['texts']) {
  const place = { step: '', attempt: '', part: 0 };
  let open: { readonly id: string; written: string; isSent: boolean } | undefined;
  const close = (): AGUIEvent[] => {
    const events: AGUIEvent[] = open?.isSent
      ? [{ type: EventType.TEXT_MESSAGE_END, messageId: open.id }]
      : [];
    if (open) place.part += 1;
    open = undefined;
    return events;
  };
  const moveTo = (step: string, attempt: string): AGUIEvent[] => {
    if (step === place.step && attempt === place.attempt) return [];
    const events = close();
    if (step !== place.step) place.part = 0;
    Object.assign(place, { step, attempt });
    return events;
  };
  const append = (text: string): AGUIEvent[] => {
    open ??= { id: `${turn}.${place.step}.${place.part}`, written: '', isSent: false };
    const { id, written, isSent } = open;
    const had = seen.get(id)?.length ?? 0;
    const delta = text.slice(Math.max(0, had - written.length));
    open.written += text;
    if (delta === '') return [];
    open.isSent = true;
    const opening: AGUIEvent = { type: EventType.TEXT_MESSAGE_START, messageId: id, role: 'assistant' };
    return [...(isSent ? [] : [opening]), { type: EventType.TEXT_MESSAGE_CONTENT, messageId: id, delta }];
  };
  return {
    close,
    add: (step: string, attempt: string, text: string): AGUIEvent[] => [
      ...moveTo(step, attempt),
      ...append(text),
    ],
    /** The whole text of the step, of which the beginning may have been sent. */
    complete(step: string, whole: string): AGUIEvent[] {
      const moving = step === place.step ? [] : moveTo(step, '');
      const written = open?.written ?? '';
      const rest = whole.startsWith(written) ? whole.slice(written.length) : '';
      return [...moving, ...append(rest), ...close()];
    },
  };
}

/** The calls of a step are in one message: their ids are that of the step with a number. */
function stepOf(callId: string): string {
  return `calls_${callId.slice(0, callId.lastIndexOf('.'))}`;
}

const STARTED = { type: EventType.RUN_STARTED, protocolVersion: PROTOCOL_VERSION } as const;

function resultEvent(toolCallId: string, { ok, code, preview }: StoredEvent['data']): AGUIEvent {
  const content = ok === true ? [preview] : [code, preview];
  return {
    type: EventType.TOOL_CALL_RESULT,
    messageId: `${toolCallId}.result`,
    toolCallId,
    role: 'tool',
    content: content.filter(Boolean).join(': '),
  };
}

function waitsOf(pause: Exclude<TurnPause, { kind: 'ended' }>): readonly ApprovalRow[] {
  return pause.kind === 'calls' ? pause.calls : pause.approvals;
}

function endEvent(run: Run, turn: string, pause: TurnPause): AGUIEvent {
  const finished = (outcome: RunFinishedOutcome): AGUIEvent => ({
    type: EventType.RUN_FINISHED,
    ...run,
    outcome,
    ...(pause.kind === 'ended' && { usage: [usageOf(pause.turn)] }),
  });
  switch (pause.kind) {
    case 'calls':
      return finished({ type: 'success', pendingToolCallIds: pause.calls.map(({ id }) => id) });
    case 'approvals':
      return finished({
        type: 'interrupt',
        interrupts: pause.approvals.map((approval) => interruptOf(approval, turn)),
      });
    case 'ended': {
      const { status, error } = pause.turn;
      if (error) return { type: EventType.RUN_ERROR, ...error, usage: [usageOf(pause.turn)] };
      return finished({ type: status === 'stopped' ? 'cancelled' : 'success' });
    }
  }
}

/** Of the whole turn; its runs that ended to ask said nothing of it. */
function usageOf({ input_tokens, output_tokens, cached_tokens }: TurnRow) {
  const [inputTokens, outputTokens] = [Number(input_tokens ?? 0), Number(output_tokens ?? 0)];
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedInputTokens: Number(cached_tokens ?? 0),
  };
}
