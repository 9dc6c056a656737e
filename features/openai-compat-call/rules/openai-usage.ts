/** What a request in OpenAI's protocol may use, and what its answer reports as used (DU-7). */
import type { Usage } from '#domain/model/model.ts';
import { isRecord } from '#domain/outside-value.ts';

/** Endpoints that generate output, and cost by its length. */
const WRITING = ['chat/completions', 'completions', 'responses'];
/** Tokens of an answer whose length the request does not limit. */
const USUAL_ANSWER_TOKENS = 4_000;

/** `inputTokens` is the estimated size of the request's own text. */
export function expectedUsage(
  endpoint: string,
  body: Readonly<Record<string, unknown>>,
  inputTokens: number,
): Usage {
  const max =
    countOf(body['max_completion_tokens']) ??
    countOf(body['max_output_tokens']) ??
    countOf(body['max_tokens']) ??
    USUAL_ANSWER_TOKENS;
  const answers = Math.max(countOf(body['n']) ?? 1, countOf(body['best_of']) ?? 1);
  const outputTokens = WRITING.includes(endpoint) ? max * answers : 0;
  return { inputTokens, outputTokens, cachedInputTokens: 0 };
}

/**
 * The usage in an answer's body, under the field names of chats, completions, responses and embeddings; undefined when
 * absent.
 */
export function usageOfBody(text: string): Usage | undefined {
  const usage = usageIn(text);
  if (!usage) return undefined;
  const outputTokens = countOf(usage['completion_tokens']) ?? countOf(usage['output_tokens']) ?? 0;
  const total = countOf(usage['total_tokens']);
  const inputTokens =
    countOf(usage['prompt_tokens']) ??
    countOf(usage['input_tokens']) ??
    (total === undefined ? undefined : Math.max(total - outputTokens, 0));
  if (inputTokens === undefined) return undefined;
  const details = usage['prompt_tokens_details'] ?? usage['input_tokens_details'];
  const cached = isRecord(details) ? countOf(details['cached_tokens']) : undefined;
  return { inputTokens, outputTokens, cachedInputTokens: Math.min(cached ?? 0, inputTokens) };
}

function usageIn(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) && isRecord(body['usage']) ? body['usage'] : undefined;
  } catch {
    // An answer that is not JSON does not report its usage.
    return undefined;
  }
}

/** A number from outside is capped at a value that no request reaches, so that sums stay exact. */
function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? Math.min(Math.ceil(value), 1_000_000_000) : undefined;
}
