/** Uses of a model that leave no answer in a transcript; they are paid for all the same (DU-7). */
import type { ModelError, ModelErrorCode, Usage } from '../model/model.ts';

/**
 * `memory`: remembering what was said in conversations. `reading`: a tool that reads media. `direct`: a request from an
 * agent's own program. `unused`: an answer that arrived after another attempt's answer.
 */
export const MODEL_USE_KINDS = [
  'summary',
  'failed',
  'unused',
  'embedding',
  'knowledge',
  'memory',
  'reading',
  'media',
  'hook',
  'sampling',
  'direct',
] as const;

export interface ModelUse {
  readonly kind: (typeof MODEL_USE_KINDS)[number];
  /** The reference: `provider/model`. */
  readonly model: string;
  readonly usage: Usage;
  /** Absent when the price is not known. */
  readonly usd?: number;
  /** Identifies a use that is paid for once, although it may be recorded again. */
  readonly once?: string;
}

/** Whether a provider has read the prompt although no output arrived. A connection that failed costs nothing. */
export function wasRead({ code }: ModelError): boolean {
  return code !== 'Unreachable' && !costsNothing(code);
}

/**
 * Errors of requests that were refused before any output, which cost nothing. Every other failure may cost money and
 * counts as what was reserved.
 */
const FREE: ReadonlySet<ModelErrorCode> = new Set([
  'RateLimited',
  'Overloaded',
  'Auth',
  'BadRequest',
  'ContextOverflow',
  'UnknownModel',
]);

export function costsNothing(code: ModelErrorCode): boolean {
  return FREE.has(code);
}
