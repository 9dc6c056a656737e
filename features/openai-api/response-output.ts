/** Answers of `/v1/responses`, whole or as events. */
import type { TurnNews } from '#api/turn-follower.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { createAnswerText } from './answer-text.ts';
import type { StartedTurn } from '#api/turn-follower.ts';
import { pauseOf, type TurnPause } from '#api/turn-pause.ts';

/** What a response repeats of its request. */
export interface ResponseFacts {
  readonly model: string;
  readonly instructions?: string | null | undefined;
  readonly previous_response_id?: string | null | undefined;
  readonly conversation?: string | { readonly id: string } | null | undefined;
  readonly tools?: readonly object[] | null | undefined;
  readonly background?: boolean | null | undefined;
  readonly metadata?: unknown;
}

export interface ResponseOutput {
  /** Takes what happened; returns the events that it adds, and why the answer is over. */
  take(news: TurnNews): { readonly events: readonly ResponseEvent[]; readonly pause?: TurnPause | undefined };
  /** The response as far as it is known. */
  response(pause?: TurnPause): object;
  /** The text until now. */
  text(): string;
}

type ResponseEvent = { readonly type: string; readonly [field: string]: unknown };

/** An id that names the turn and the event after which the answer begins, so that any process finds it. */
export function responseIdOf({ id, after }: Pick<StartedTurn, 'id' | 'after'>): string {
  return `resp_${id}.${after}`;
}

export function readResponseId(id: string): { readonly turn: string; readonly after: number } | undefined {
  const [, turn, after] = /^resp_([A-Za-z0-9_.:-]{1,140})\.(\d{1,15})$/.exec(id) ?? [];
  return turn && after ? { turn, after: Number(after) } : undefined;
}

export function createResponseOutput(
  turn: StartedTurn,
  facts: ResponseFacts,
  at = new Date(),
): ResponseOutput {
  const text = createAnswerText();
  const message = `msg_${turn.id}.${turn.after}`;
  const place = { item_id: message, output_index: 0, content_index: 0 };
  let sequence = 0;
  let isOpen = false;
  const event = (type: string, fields: object): ResponseEvent => ({
    type,
    sequence_number: sequence++,
    ...fields,
  });
  const response = (pause?: TurnPause): object => ({
    ...shell(facts, at),
    id: responseIdOf(turn),
    ...outcomeOf(pause),
    output: [
      ...(text.whole() ? [messageItem(message, text.whole(), pause !== undefined)] : []),
      ...itemsOf(pause),
    ],
  });
  const begin = (): ResponseEvent[] => {
    if (sequence > 0) return [];
    return [
      event('response.created', { response: response() }),
      event('response.in_progress', { response: response() }),
    ];
  };
  const write = (delta: string): ResponseEvent[] => {
    if (delta === '') return [];
    const opening = isOpen
      ? []
      : [
          event('response.output_item.added', {
            output_index: 0,
            item: { ...messageItem(message, '', false), content: [] },
          }),
          event('response.content_part.added', { ...place, part: textPart('') }),
        ];
    isOpen = true;
    return [...opening, event('response.output_text.delta', { ...place, delta, logprobs: [] })];
  };
  const close = (): ResponseEvent[] => {
    if (!isOpen) return [];
    const whole = text.whole();
    return [
      event('response.output_text.done', { ...place, text: whole, logprobs: [] }),
      event('response.content_part.done', { ...place, part: textPart(whole) }),
      event('response.output_item.done', { output_index: 0, item: messageItem(message, whole, true) }),
    ];
  };
  const end = (pause: TurnPause): ResponseEvent[] => {
    // Each event gets its number when it is made.
    const closed = close();
    const items = itemsOf(pause).flatMap((item, at) => itemEvents(event, item, at + (isOpen ? 1 : 0)));
    const { status } = outcomeOf(pause);
    return [
      ...closed,
      ...items,
      event(`response.${status === 'cancelled' ? 'incomplete' : status}`, { response: response(pause) }),
    ];
  };
  return {
    text: text.whole,
    response,
    take(news) {
      const pause = pauseOf(news);
      const events = [...begin(), ...news.events.flatMap((one) => write(text.add(one)))];
      return { events: pause ? [...events, ...end(pause)] : events, pause };
    },
  };
}

/** The fields that clients expect of every response. */
function shell(
  { model, instructions, previous_response_id, conversation, tools, background, metadata }: ResponseFacts,
  at: Date,
) {
  return {
    object: 'response',
    created_at: Math.floor(at.getTime() / 1000),
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: instructions ?? null,
    max_output_tokens: null,
    max_tool_calls: null,
    model,
    parallel_tool_calls: true,
    previous_response_id: previous_response_id ?? null,
    conversation: typeof conversation === 'string' ? { id: conversation } : (conversation ?? null),
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: true,
    background: background ?? false,
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: tools ?? [],
    truncation: 'disabled',
    metadata: metadata ?? {},
  };
}

function outcomeOf(pause: TurnPause | undefined) {
  if (!pause) return { status: 'in_progress', usage: null };
  const completed_at = Math.floor(Date.now() / 1000);
  if (pause.kind !== 'ended') return { status: 'completed', completed_at, usage: null };
  const { status, error } = pause.turn;
  const usage = usageOf(pause.turn);
  if (error) return { status: 'failed', usage, error: { code: error.code, message: error.message } };
  if (status === 'stopped') return { status: 'cancelled', usage };
  return { status: 'completed', completed_at, usage };
}

function messageItem(id: string, text: string, isDone: boolean) {
  return {
    type: 'message',
    id,
    role: 'assistant',
    status: isDone ? 'completed' : 'in_progress',
    content: [textPart(text)],
  };
}

function textPart(text: string) {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

type OutputItem = ReturnType<typeof callItem> | ReturnType<typeof approvalItem>;

function itemsOf(pause: TurnPause | undefined): readonly OutputItem[] {
  if (pause?.kind === 'calls') return pause.calls.map(callItem);
  return pause?.kind === 'approvals' ? pause.approvals.map(approvalItem) : [];
}

function callItem({ id, tool, args }: ApprovalRow) {
  return {
    type: 'function_call' as const,
    id: `fc_${id}`,
    call_id: id,
    name: tool,
    arguments: JSON.stringify(args),
    status: 'completed',
  };
}

/** The protocol's own question to a person, about a tool of TempoClaw. */
function approvalItem({ id, tool, args }: ApprovalRow) {
  return {
    type: 'mcp_approval_request' as const,
    id,
    server_label: 'tempoclaw',
    name: tool,
    arguments: JSON.stringify(args),
  };
}

function itemEvents(
  event: (type: string, fields: object) => ResponseEvent,
  item: OutputItem,
  output_index: number,
): ResponseEvent[] {
  const done = event.bind(undefined, 'response.output_item.done');
  if (item.type !== 'function_call')
    return [event('response.output_item.added', { output_index, item }), done({ output_index, item })];
  const place = { item_id: item.id, output_index };
  return [
    event('response.output_item.added', {
      output_index,
      item: { ...item, arguments: '', status: 'in_progress' },
    }),
    event('response.function_call_arguments.delta', { ...place, delta: item.arguments }),
    event('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments }),
    done({ output_index, item }),
  ];
}

function usageOf({ input_tokens, output_tokens, cached_tokens }: TurnRow) {
  const [input, output] = [Number(input_tokens ?? 0), Number(output_tokens ?? 0)];
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: Number(cached_tokens ?? 0) },
    output_tokens_details: { reasoning_tokens: 0 },
  };
}
