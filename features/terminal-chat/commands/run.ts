/**
 * Implements `tempoclaw run "text"`: one turn with progress on stderr, the answer on stdout, and the outcome in the
 * exit code.
 */
import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { SUBMIT_MODES } from '#domain/turn/turn.ts';
import { createApprovalPrompter, type ApprovalMode } from '../approvals/approval-prompter.ts';
import { EXIT, type ExitCode, usageError } from '#cli/cli-error.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  orMissing,
  pathOf,
} from '#cli/command-context.ts';
import { connectionLine, createFeedView, createPlainSink, type FeedSink, textOf } from '#cli/feed-view.ts';
import { interruptTwice } from '#cli/interrupt.ts';
import { readPipe } from '#cli/object-file.ts';
import { fitted, printJson, printText } from '#cli/output.ts';
import { watchSession } from '#cli/session-watch.ts';
import type { MessageReceipt, Session, Turn } from '#cli/wire.ts';

interface RunOptions extends ApiOptions {
  readonly session?: string;
  readonly agent?: string;
  readonly mode?: string;
  readonly approveAll?: boolean;
  readonly quiet?: boolean;
}

export function register(command: Command): void {
  command
    .argument('[text]', 'what to say; - or nothing reads it from a pipe')
    .option('--session <key>', 'the session to speak in (default: a new one)')
    .option('--agent <key>', 'who answers (default: main)')
    .addOption(new Option('--mode <mode>', 'when a turn runs already').choices(SUBMIT_MODES).default('queue'))
    .option('--approve-all', 'approve every call of this turn that is asked about')
    .option('--quiet', 'no progress')
    .action(async (text: string | undefined, options: RunOptions) => {
      process.exitCode = await run(await readText(text), options);
    });
}

async function run(text: string, options: RunOptions): Promise<ExitCode> {
  const context = createContext(options);
  const { client, err } = context;
  const sessionKey = options.session ?? `run-${randomUUID()}`;
  const known =
    options.session === undefined
      ? undefined
      : await orMissing(client.get<Session>(pathOf('sessions', sessionKey)));
  const receipt = await client.post<MessageReceipt>(pathOf('sessions', sessionKey, 'messages'), {
    text,
    mode: options.mode,
    agent: options.agent,
  });
  if (options.session === undefined && options.quiet !== true)
    err.line(fitted(err, err.paint('dim', `session ${sessionKey} · turn ${receipt.turn_id}`)));
  return watchToEnd(context, options, receipt, known?.last_event_id ?? 0);
}

async function watchToEnd(
  context: CommandContext,
  options: RunOptions,
  receipt: MessageReceipt,
  after: number,
): Promise<ExitCode> {
  const { client, err, out } = context;
  const { session_key: sessionKey, turn_id: turnId } = receipt;
  const streams = !context.json && out.stream.isTTY === true;
  const sink = runSink(context, streams, options.quiet === true);
  const mode = approvalMode(context, options);
  const show = createFeedView({ sink, output: err, answer: streams, isPromptedInPlace: mode === 'ask' });
  let answer = '';
  const stopped = Promise.withResolvers<never>();
  const interrupt = interruptTwice({
    first: () => {
      sink.line(err.paint('magenta', '■ stopping the turn; Ctrl-C again leaves without waiting'));
      client
        .post(pathOf('sessions', sessionKey, 'stop'), { level: 'now', turn_id: turnId })
        .catch(stopped.reject);
    },
    second: () => process.exit(EXIT.interrupted),
  });
  const service = createApprovalPrompter({
    client,
    mode,
    output: err,
    // What a person must do is printed even when progress is not.
    say(line) {
      sink.end();
      err.line(line);
    },
    alone(work) {
      sink.end();
      return work();
    },
    onInterrupt: interrupt.fire,
    onError: stopped.reject,
  });
  const watch = watchSession({
    client,
    sessionKey,
    after,
    onEvent: (event) => {
      if (event.turn_id !== turnId) return;
      if (event.type === 'message.completed') answer = textOf(event.data['text']);
      show(event);
      service.take(event);
    },
    onConnection: (reason) => sink.line(connectionLine(err, reason)),
  });
  try {
    await Promise.race([watch.end(turnId), stopped.promise]);
    const turn = await client.get<Turn>(pathOf('turns', turnId));
    if (context.json) printJson(context.out, turn);
    else if (turn.text && !(streams && answer === turn.text)) printText(out, turn.text);
    if (interrupt.fired()) return EXIT.interrupted;
    return turn.status === 'completed' ? EXIT.ok : EXIT.failed;
  } finally {
    watch.close();
    service.close();
    interrupt.off();
  }
}

/** Progress goes to stderr. At a terminal the answer streams to stdout; elsewhere it is printed whole at the end. */
function runSink({ out, err }: CommandContext, streams: boolean, quiet: boolean): FeedSink {
  const progress = quiet ? { text: () => {}, line: () => {}, end: () => {} } : createPlainSink(err);
  if (!streams) return progress;
  const answer = createPlainSink(out);
  return {
    text: answer.text,
    end: answer.end,
    line(line) {
      answer.end();
      progress.line(line);
    },
  };
}

function approvalMode(context: CommandContext, options: RunOptions): ApprovalMode {
  if (options.approveAll) return 'approve-all';
  return context.canAsk ? 'ask' : 'tell';
}

/** A message is at most 64 KB; a pipe without end is cut off well after. */
const MAX_INPUT = 1024 * 1024;

async function readText(value: string | undefined): Promise<string> {
  if (value !== undefined && value !== '-') return value;
  if (process.stdin.isTTY)
    throw usageError('Nothing to say was given.', 'Write it as in: npx tempoclaw run "List the files here"');
  const text = await readPipe(MAX_INPUT, 'More than 1 MB came from the pipe; a message may have 64 KB.');
  if (text.trim() === '') throw usageError('The pipe had no text.');
  return text;
}
