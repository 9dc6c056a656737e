/** Maps an HTTP status of a model provider to our error code; the adapters and rehearsal's scripted errors share it. */
import type { ModelErrorCode } from '#domain/model/model.ts';

/** 408, 409, 425, 429, 5xx and Anthropic's 529 may pass by themselves; other 4xx do not. */
export function codeOfStatus(status: number): ModelErrorCode {
  if (status === 429) return 'RateLimited';
  if (status === 401 || status === 403) return 'Auth';
  if (status === 404) return 'UnknownModel';
  if (status === 413) return 'ContextOverflow';
  if (status === 408 || status === 504) return 'Timeout';
  if (status === 409 || status === 425 || status >= 500) return 'Overloaded';
  return status >= 400 ? 'BadRequest' : 'BadAnswer';
}
