/** Answers of `/v1/chat/completions`, whole or in chunks. */
import type { TurnNews } from '#api/turn-follower.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { type AnswerText, createAnswerText } from './answer-text.ts';
import type { StartedTurn } from '#api/turn-follower.ts';
import { openaiError } from './openai-error.ts';
import { pauseOf, type TurnPause } from '#api/turn-pause.ts';
import { showHidden } from '#domain/text/hidden-text.ts';

export interface ChatOutput {
  /** Takes what happened; returns the chunks that it adds, and why the answer is over. */
  take(news: TurnNews): { readonly chunks: readonly object[]; readonly pause?: TurnPause | undefined };
  /** The whole answer, after a pause. */
  completion(pause: TurnPause): object;
  readonly text: AnswerText;
}

export function createChatOutput({ id }: StartedTurn, model: string, hasUsage: boolean): ChatOutput {
  const created = Math.floor(Date.now() / 1000);
  const common = { id: `chatcmpl-${id}`, created, model };
  const text = createAnswerText();
  const chunk = (delta: object, reason: string | null = null): object => ({
    ...common,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  let isFirst = true;
  const write = (content: string): object[] => {
    if (content === '') return [];
    const role = isFirst ? { role: 'assistant' } : {};
    isFirst = false;
    return [chunk({ ...role, content })];
  };
  const last = (pause: TurnPause): object[] => {
    if (pause.kind === 'ended' && pause.turn.error) return [{ error: errorOf(pause.turn.error) }];
    const calls =
      pause.kind === 'calls' ? [chunk({ role: 'assistant', tool_calls: toolCalls(pause.calls) })] : [];
    const usage =
      hasUsage && pause.kind === 'ended'
        ? [{ ...common, object: 'chat.completion.chunk', choices: [], usage: usageOf(pause.turn) }]
        : [];
    return [...calls, chunk({}, reasonOf(pause)), ...usage];
  };
  return {
    text,
    take(news) {
      const pause = pauseOf(news);
      const chunks = news.events.flatMap((event) => write(text.add(event)));
      if (!pause) return { chunks };
      return { chunks: [...chunks, ...write(text.add(noteOf(pause))), ...last(pause)], pause };
    },
    completion(pause) {
      const calls = pause.kind === 'calls' ? { tool_calls: toolCalls(pause.calls) } : {};
      const message = { role: 'assistant', content: text.whole() || null, refusal: null, ...calls };
      return {
        ...common,
        object: 'chat.completion',
        choices: [{ index: 0, message, logprobs: null, finish_reason: reasonOf(pause) }],
        ...(pause.kind === 'ended' && { usage: usageOf(pause.turn) }),
      };
    },
  };
}

/** What the client must know and no event says, as the text of a step of its own. */
function noteOf(pause: TurnPause): { type: 'message.completed'; data: { step: string; text: string } } {
  const text =
    pause.kind === 'approvals'
      ? approvalText(pause.approvals)
      : pause.kind === 'ended' && pause.turn.status === 'stopped'
        ? 'The turn was stopped.'
        : '';
  return { type: 'message.completed', data: { step: 'note', text } };
}

function toolCalls(calls: readonly ApprovalRow[]): object[] {
  return calls.map(({ id, tool, args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
}

function reasonOf({ kind }: TurnPause): string {
  return kind === 'calls' ? 'tool_calls' : 'stop';
}

export function errorOf({ code, message }: NonNullable<TurnRow['error']>): object {
  return openaiError({ code, detail: message });
}

function usageOf({ input_tokens, output_tokens, cached_tokens }: TurnRow) {
  const [prompt_tokens, completion_tokens] = [Number(input_tokens ?? 0), Number(output_tokens ?? 0)];
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: Number(cached_tokens ?? 0) },
  };
}

/** For protocols in which nothing else says it. */
function approvalText(approvals: readonly ApprovalRow[]): string {
  const lines = approvals.map(
    ({ id, summary }) =>
      `Waits for an approval of: ${showHidden(summary)}\nA person decides it in the web console, or with \`npx tempoclaw approvals approve ${id}\`. Then ask again.`,
  );
  return lines.join('\n\n');
}
