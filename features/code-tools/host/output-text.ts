/** What a tool returns, as models read it. */
import { HOST_LIMITS } from '../contract.ts';

export function textOf(output: unknown): string {
  const text =
    output === undefined || output === null
      ? 'Done.'
      : typeof output === 'string'
        ? output
        : (JSON.stringify(output) ?? String(output));
  return text.length <= HOST_LIMITS.output
    ? text
    : `${text.slice(0, HOST_LIMITS.output)}\n[cut: it returned ${text.length} characters]`;
}
