/** Asks the person at the terminal about one approval, and turns the answer into the API's decision. */
import { isCancel, text, type TextOptions } from '@clack/prompts';
import { alwaysLine, decide, type DecisionBody } from '#cli/approvals/approval-words.ts';
import type { CliError } from '#cli/cli-error.ts';
import { ApiError, type Client } from '#cli/client.ts';
import { readJsonObject } from '#cli/command-context.ts';
import { fitted, type Output } from '#cli/output.ts';
import { agoWords, oneLine, printable } from '#cli/text.ts';
import type { Approval, DecisionReceipt } from '#cli/wire.ts';
import type { Decision } from '#domain/approval/approval.ts';
import { formLines } from '#domain/form.ts';
import { indent } from '#domain/resource/command.ts';
import { runsAtWords } from '#domain/sandbox.ts';
import { openTypedInput, type TypedInput } from '../typed-input.ts';

/**
 * `later` means that it stays open, `interrupted` means Ctrl-C, and `gone` means that it was decided elsewhere in the
 * meantime (the signal).
 */
type PromptOutcome = DecisionBody | 'later' | 'interrupted' | 'gone';

/** Characters of the arguments that are shown; `npx tempoclaw approvals show` shows all of them. */
const MAX_ARGS = 4_000;

/** The call in full: who wants what, why it needs approval, and until when. */
export function approvalLines(approval: Approval, output: Output): string[] {
  const { paint } = output;
  const { runs } = approval;
  const args = printable(JSON.stringify(approval.args, null, 2));
  const cut =
    args.length > MAX_ARGS
      ? `${args.slice(0, MAX_ARGS)}\n… (all: npx tempoclaw approvals show ${approval.id})`
      : args;
  const about = [
    `agent ${approval.agent}`,
    approval.subagent
      ? `subagent ${oneLine(approval.subagent.label, 60)} of session ${approval.subagent.parent_session}`
      : '',
    approval.risk ? `risk ${oneLine(approval.risk, 60)}` : '',
    approval.tally ? `agreed ${approval.tally}` : '',
    approval.status === 'pending' ? `expires ${agoWords(approval.expires_at, Date.now())}` : approval.status,
  ];
  // The terminal breaks the lines of arguments itself, because a line that it breaks hides no space.
  const dim = (text: string): string => fitted(output, paint('dim', text));
  return [
    `${paint(['yellow', 'bold'], '?')} ${paint('bold', oneLine(approval.summary || approval.tool, 400))}`,
    dim(`  ${about.filter(Boolean).join(' · ')}`),
    ...(runs
      ? [fitted(output, paint(runs === 'host' ? 'yellow' : 'dim', `  runs ${runsAtWords(runs)}`))]
      : []),
    ...(approval.reason ? [dim(`  asked because: ${oneLine(approval.reason, 400)}`)] : []),
    ...(approval.form ? formLines(approval.form).map((line) => dim(`  ${oneLine(line, 2_000)}`)) : []),
    indent(cut),
    ...filesLines(approval).map((line) => dim(`  runs: ${oneLine(line, 400)}`)),
    dim(`  always: ${oneLine(alwaysLine(approval), 2_200)}`),
  ];
}

/** Prints one file a line, so that they can be compared. */
function filesLines({ files }: Approval): string[] {
  const there = files.filter(({ missing }) => !missing);
  return (there.length > 0 ? there : files).map(({ path, sha256, bytes, unbound }) => {
    if (sha256 !== null) return `${path} (${bytes} bytes, sha256 ${sha256})`;
    return unbound === null ? `${path} (not there yet)` : `${path} (not bound: ${unbound})`;
  });
}

export interface Settling {
  readonly client: Client;
  /** Where questions are printed. */
  readonly output: Output;
  /** Prints a line that is no question: why a decision failed. */
  readonly say: (line: string) => void;
  /** Keeps all other output off the terminal while a question is on it. */
  readonly alone?: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Asks, and asks again when the API refuses the decision, until it is decided or left open, or `gone` aborts because it
 * is over.
 */
export async function settleApproval(
  settling: Settling,
  approval: Approval,
  gone: AbortSignal,
): Promise<DecisionReceipt | 'late' | Exclude<PromptOutcome, object>> {
  const { output, say, alone = (work) => work() } = settling;
  for (;;) {
    const outcome = await alone(() => askApproval(approval, output, gone));
    if (typeof outcome === 'string') return outcome;
    try {
      return await decideInTime(settling, approval.id, outcome);
    } catch (error) {
      if (!isRefusedDecision(error)) throw error;
      say(output.paint('red', `  ${error.message}`));
    }
  }
}

/** Works as `decide`, but reports it as a message, not an error, if somebody else or the deadline was first. */
export async function decideInTime(
  { client, output, say }: Settling,
  id: string,
  body: DecisionBody,
): Promise<DecisionReceipt | 'late'> {
  try {
    return await decide(client, id, body);
  } catch (error) {
    if (!(error instanceof ApiError && LATE.has(error.code))) throw error;
    const { detail, title } = error.problem;
    say(output.paint('yellow', `  too late: ${oneLine(detail ?? title ?? error.code, 200)}`));
    return 'late';
  }
}

const LATE: ReadonlySet<string> = new Set(['AlreadyDecided', 'ApprovalExpired', 'ApprovalWithdrawn']);

async function askApproval(approval: Approval, output: Output, gone: AbortSignal): Promise<PromptOutcome> {
  if (gone.aborted) return 'gone';
  // A finished prompt still listens to its signal, and would take the terminal out of raw mode under the next one.
  const asking = new AbortController();
  const forward = (): void => asking.abort();
  gone.addEventListener('abort', forward);
  const input = openTypedInput({ input: process.stdin, output: output.stream }, ' ');
  try {
    for (const line of approvalLines(approval, output)) output.line(line);
    const before = await input.dropUntilQuiet(QUIET_MS, asking.signal);
    if (before !== 'quiet') return before === 'aborted' ? 'gone' : 'interrupted';
    return await ask(approval, output, { input, output: output.stream, signal: asking.signal });
  } finally {
    gone.removeEventListener('abort', forward);
    input.close();
  }
}

/**
 * Longer than the time between two keystrokes of somebody who types, so that keys meant for something else decide
 * nothing.
 */
const QUIET_MS = 400;

type PromptIo = Required<Pick<TextOptions, 'output' | 'signal'>> & { readonly input: TypedInput };

async function ask(approval: Approval, output: Output, io: PromptIo): Promise<PromptOutcome> {
  const { digest } = approval;
  const choices = choicesOf(approval);
  output.line();
  for (const { words, hint } of choices) output.line(`  ${words.join(', ').padEnd(WORDS_WIDTH)}${hint}`);
  // Nothing is preselected, so that Enter alone decides nothing.
  const typed = await text({
    ...io,
    message: approval.form ? 'Answer it?' : 'Run it?',
    validate: (word) =>
      choiceOf(choices, word) ? undefined : `Type one of: ${choices.map(({ words }) => words[0]).join(', ')}`,
  });
  const choice = isCancel(typed) ? typed : choiceOf(choices, typed);
  if (choice === 'later') return 'later';
  if (choice === 'approve' || choice === 'approve_always') return { decision: choice, digest };
  const words = isCancel(choice) || !choice ? choice : await text({ ...io, ...questionOf(choice, approval) });
  if (isCancel(words) || words === undefined) return io.signal.aborted ? 'gone' : 'interrupted';
  if (choice === 'edit') return { decision: 'edit', args: readJsonObject(words, 'The input'), digest };
  if (choice === 'reject') return { decision: 'reject', reason: words || undefined, digest };
  return { decision: 'respond', text: words, digest };
}

interface Choice {
  readonly value: Decision | 'later';
  /** What a person types for it, in full. */
  readonly words: readonly [string, ...string[]];
  readonly hint: string;
}

/** Columns. */
const WORDS_WIDTH = 18;

function choiceOf(choices: readonly Choice[], typed: string | undefined): Choice['value'] | undefined {
  const word = typed?.trim().toLowerCase() ?? '';
  return choices.find(({ words }) => words.includes(word))?.value;
}

/** Offers “always” only where something would be stored. */
function choicesOf({ always, form }: Approval): Choice[] {
  const choices: Choice[] = [
    { value: 'approve', words: ['approve', 'yes', 'y'], hint: 'this once' },
    { value: 'approve_always', words: ['always'], hint: 'this once, and exactly that from now on' },
    { value: 'edit', words: ['edit', 'e'], hint: 'change the arguments, then run it' },
    { value: 'reject', words: ['reject', 'no', 'n'], hint: 'tell the model why' },
    { value: 'respond', words: ['respond'], hint: 'answer the model yourself instead of running it' },
    { value: 'later', words: ['later', 'l'], hint: 'leave it open for somebody else' },
  ];
  const isOffered = always?.allows != null;
  return choices.filter(
    ({ value }) => (value !== 'approve_always' || isOffered) && (value !== 'respond' || !form),
  );
}

/** Asks for further input of the choice. */
function questionOf(choice: Decision, { args }: Approval): TextOptions {
  if (choice === 'reject')
    return { message: 'Why not? The model is told.', placeholder: 'no reason', defaultValue: '' };
  if (choice === 'respond')
    return {
      message: 'What should the model read?',
      validate: (value) => (value ? undefined : 'Write something, or press Ctrl-C'),
    };
  return {
    message: 'The arguments to run instead (JSON)',
    initialValue: JSON.stringify(args),
    validate: (value) => (isJsonObject(value ?? '') ? undefined : 'This is not a JSON object'),
  };
}

function isJsonObject(text: string): boolean {
  try {
    return Boolean(readJsonObject(text, ''));
  } catch {
    return false;
  }
}

/** Invalid, not among the approvers, or impossible to do. */
const REFUSED: ReadonlySet<number> = new Set([400, 403, 422]);

/** True for a decision that the API refused, such as edited arguments that do not fit. The person may try again. */
function isRefusedDecision(error: unknown): error is CliError {
  return error instanceof ApiError && (REFUSED.has(error.status) || error.code === 'Conflict');
}
