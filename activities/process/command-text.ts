/** The result of a command in the format that models know from upstream: output, `STDERR:`, how it ended. */
import type { ToolErrorCode } from '#domain/errors.ts';
import { type ToolResult, toolError } from '#domain/tool.ts';
import type { CommandOutcome } from '@tempoclaw/sandbox';
import { stripEscapes } from './strip-escapes.ts';

/** Characters of a command's output that the model reads (vectors/registry-limits.json). */
export const COMMAND_MAX_CHARS = 30_000;
/** When the end contains a failure or a summary, it is more important (vectors/registry-limits.json). */
const IMPORTANT = /error|exception|failed|fatal|traceback|panic|exit code|total|summary|result|done/i;
/** The number of last characters that are searched for it. */
const LOOK_BACK = 2_000;

/** `timeoutMs` is the time limit. The result's `whole` is set when the model reads less than was kept. */
export function commandResult(outcome: CommandOutcome, timeoutMs: number): ToolResult {
  const parts = [plain(outcome.stdout)];
  if (outcome.stderr !== '') parts.push(`STDERR:\n${plain(outcome.stderr)}`);
  const output = parts.filter((part) => part !== '').join('\n');
  const note =
    outcome.leftovers > 0
      ? `[${outcome.leftovers} process(es) still running after the command were ended; use background: true to keep one]`
      : '';
  const cut = cutOutput(output, COMMAND_MAX_CHARS);
  const whole = cut === output ? {} : { whole: output };
  const says = (last: string): string =>
    [cut.trimEnd(), note, outcome.note ? `[${outcome.note}]` : '', last]
      .filter((part) => part !== '')
      .join('\n') || '(command completed with no output)';
  const failed = (code: ToolErrorCode, last: string): ToolResult => ({
    ok: false,
    code,
    message: says(last),
    ...whole,
  });
  switch (outcome.ended) {
    case 'exit':
      if (outcome.exitCode === 0) return { ok: true, text: says(''), ...whole };
      return failed('ExecutionFailed', `Exit code: ${outcome.exitCode}`);
    case 'signal':
      return failed('ExecutionFailed', `command was ended by signal ${outcome.signalName}`);
    case 'timeout':
      return failed('Timeout', `command timed out after ${goDuration(outcome.timeoutMs ?? timeoutMs)}`);
    case 'cancelled':
      return failed('Cancelled', 'the command was stopped; what it had done by then stays done');
    case 'lost':
      return failed('SandboxUnavailable', outcome.reason ?? '');
    case 'unboxed':
      return toolError('SandboxUnavailable', `${outcome.reason}. The command has not run`);
    case 'unstarted':
      return toolError('ExecutionFailed', `the command could not be started: ${plain(outcome.stderr)}`);
  }
}

/** 70 % head and 30 % tail when the end looks important, otherwise only the head; no character is cut in two. */
export function cutOutput(text: string, max: number): string {
  if (text.length <= max) return text;
  const tailLines = IMPORTANT.test(text.slice(-LOOK_BACK));
  const head = text.slice(0, tailLines ? Math.floor(max * 0.7) : max).replace(/[\ud800-\udbff]$/, '');
  const tail = tailLines ? text.slice(-Math.floor(max * 0.3)).replace(/^[\udc00-\udfff]/, '') : '';
  const remaining = text.length - head.length - tail.length;
  return `${head}\n[${remaining} of ${text.length} characters left out]\n${tail}`;
}

/** Without escape sequences, and without NUL, which no text column accepts. */
export function plain(text: string): string {
  return stripEscapes(text).replaceAll('\0', '');
}

/** In Go's format, which upstream's texts use: `1h0m0s`, `1m0s`, `45s`. */
export function goDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  const hours = Math.floor(minutes / 60);
  return `${hours > 0 ? `${hours}h` : ''}${minutes % 60}m${seconds % 60}s`;
}
