/** The result of a command in the words models know from upstream (REFERENCE §3): output, `STDERR:`, how it ended. */
import { type ToolResult, toolError } from '#domain/tool.ts';
import type { CommandOutcome } from './shell.ts';
import { stripEscapes } from './strip-escapes.ts';

/** Characters of a command's output that the model reads (vectors/registry-limits.json). */
export const COMMAND_MAX_CHARS = 30_000;
/** Where a failure or a summary speaks, the end is worth more (vectors/registry-limits.json). */
const IMPORTANT = /error|exception|failed|fatal|traceback|panic|exit code|total|summary|result|done/i;
/** Where it is looked for: the last lines. */
const LOOK_BACK = 2_000;

/** `timeoutMs` is the time that was allowed. The result's `whole` is set when the model reads less than was kept. */
export function commandResult(outcome: CommandOutcome, timeoutMs: number): ToolResult {
  const parts = [plain(outcome.stdout)];
  if (outcome.stderr !== '') parts.push(`STDERR:\n${plain(outcome.stderr)}`);
  const output = parts.filter((part) => part !== '').join('\n');
  const note =
    outcome.leftovers > 0
      ? `[${outcome.leftovers} process(es) still running after the command were ended; use background: true to keep one]`
      : '';
  const allowed = outcome.timeoutMs ?? timeoutMs;
  const cut = cutOutput(output, COMMAND_MAX_CHARS);
  const whole = cut === output ? {} : { whole: output };
  const says = (last: string): string =>
    [cut.trimEnd(), note, outcome.note ? `[${outcome.note}]` : '', last]
      .filter((part) => part !== '')
      .join('\n') || '(command completed with no output)';
  switch (outcome.ended) {
    case 'exit':
      if (outcome.exitCode === 0) return { ok: true, text: says(''), ...whole };
      return {
        ok: false,
        code: 'ExecutionFailed',
        message: says(`Exit code: ${outcome.exitCode}`),
        ...whole,
      };
    case 'signal':
      return {
        ok: false,
        code: 'ExecutionFailed',
        message: says(`command was ended by signal ${outcome.signalName}`),
        ...whole,
      };
    case 'timeout':
      return {
        ok: false,
        code: 'Timeout',
        message: says(`command timed out after ${goDuration(allowed)}`),
        ...whole,
      };
    case 'cancelled':
      return {
        ok: false,
        code: 'Cancelled',
        message: says('the command was stopped; what it had done by then stays done'),
        ...whole,
      };
    case 'unboxed':
      return toolError('SandboxUnavailable', `${outcome.reason}. The command has not run`);
    case 'lost':
      return { ok: false, code: 'SandboxUnavailable', message: says(outcome.reason ?? ''), ...whole };
    case 'unstarted':
      return toolError('ExecutionFailed', `the command could not be started: ${plain(outcome.stderr)}`);
  }
}

/** 70 % head and 30 % tail when the end looks important, else the head alone. */
export function cutOutput(text: string, max: number): string {
  if (text.length <= max) return text;
  const tailWanted = IMPORTANT.test(text.slice(-LOOK_BACK));
  const head = wholeHead(text, tailWanted ? Math.floor(max * 0.7) : max);
  const tail = tailWanted ? wholeTail(text, Math.floor(max * 0.3)) : '';
  const left = text.length - head.length - tail.length;
  return `${head}\n[${left} of ${text.length} characters left out]\n${tail}`;
}

/** Without escape sequences, and without NUL, which no text column takes. */
export function plain(text: string): string {
  return stripEscapes(text).replaceAll('\0', '');
}

/** As Go prints it, since upstream's texts do: `1m0s`, `45s`. */
export function goDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  const minutes = Math.floor(seconds / 60);
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}

function wholeHead(text: string, length: number): string {
  const cut = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

function wholeTail(text: string, length: number): string {
  const cut = text.slice(text.length - length);
  return /^[\udc00-\udfff]/.test(cut) ? cut.slice(1) : cut;
}
