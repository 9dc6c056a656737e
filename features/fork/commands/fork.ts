/** Implements `tempoclaw fork SESSION`: goes on from a step of a session in a copy of it. */
import type { Command } from 'commander';
import { call } from '#cli/call.ts';
import { EXIT, type ExitCode, usageError } from '#cli/cli-error.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  pathOf,
  readJsonObject,
  wholeNumber,
} from '#cli/command-context.ts';
import { connectionLine, createFeedView, createPlainSink } from '#cli/feed-view.ts';
import { printJson, printText } from '#cli/output.ts';
import { watchSession } from '#cli/session-watch.ts';
import { printable } from '#cli/text.ts';
import type { Turn } from '#cli/wire.ts';
import { forks } from '../resource.ts';

interface ForkOptions extends ApiOptions {
  readonly turn?: string;
  readonly step?: number;
  readonly answer?: string;
  readonly call?: string;
  readonly args?: string;
  readonly agent?: string;
  readonly message?: string;
  readonly as?: string;
  readonly watch?: boolean;
}

type Fork = Awaited<ReturnType<typeof call<typeof forks.operations.createFork>>>;

const WAIT_SECONDS = 60;
const MAX_STEP = 10_000;

export function register(fork: Command): void {
  fork
    .argument('<session>', 'key of the session')
    .option('--turn <id>', 'the turn (default: the last one)')
    .option(
      '--step <n>',
      'the first step that is done anew (default: none, all of the turn is copied)',
      wholeNumber(1, MAX_STEP),
    )
    .option('--answer <text>', 'the answer of that step, in place of a model’s')
    .option('--call <id>', 'a call whose step is done anew with other arguments')
    .option('--args <json>', 'the arguments of that call')
    .option('--agent <key>', 'who goes on (default: the same agent)')
    .option('--message <text>', 'what the fork is told: at step 1 in place of the turn’s message')
    .option('--as <key>', 'key of the new session; the same request again is the same fork')
    .option('--watch', 'show the turn that goes on, until it has ended')
    .action(async (session: string, options: ForkOptions) => {
      process.exitCode = await run(session, options);
    });
}

async function run(session: string, options: ForkOptions): Promise<ExitCode> {
  const { turn, step, answer, agent, message, as: key } = options;
  if ((options.call === undefined) !== (options.args === undefined))
    throw usageError('Give --call and --args together.', 'As in: --call call_… --args \'{"path":"b.md"}\'');
  const context = createContext(options);
  const fork = await call(context.client, forks.operations.createFork, {
    params: { key: session },
    query: { wait: WAIT_SECONDS },
    body: {
      turn_id: turn,
      step,
      ...(answer !== undefined && { answer: { text: answer } }),
      ...(options.call !== undefined && {
        call: { id: options.call, args: readJsonObject(options.args ?? '', '--args') },
      }),
      agent,
      message,
      key,
    },
  });
  if (!context.json) printFork(context, fork);
  if (options.watch && fork.status === 'done' && fork.turn_id !== null)
    return watch(context, fork.session_key, fork.turn_id);
  if (context.json) printJson(context.out, fork);
  return EXIT.ok;
}

function printFork({ out }: CommandContext, fork: Fork): void {
  const { session_key: key, forked_from: from, copied, turn_id: turn } = fork;
  if (fork.status === 'open' || !copied)
    return out.line(`The fork ${key} is still being made; look with: npx tempoclaw sessions show ${key}`);
  const place =
    from.step === null ? `after the turn ${from.turn_id}` : `at step ${from.step} of ${from.turn_id}`;
  out.line(`The session ${key} is a fork of ${from.session} ${place}.`);
  const { turns, calls, files, put_back, not_put_back: left, not_put_back_total: total } = copied;
  out.line(`Copied: turns ${turns}, calls ${calls}, files ${files}. Put back: files ${put_back}.`);
  if (total > 0)
    out.line(
      out.paint(
        'yellow',
        `${total === 1 ? 'A call' : `${total} calls`} after that step may have changed files that are in the copy:`,
      ),
    );
  for (const { summary, reason } of left)
    out.line(out.paint('dim', `  ${printable(`${summary}: ${reason}`)}`));
  out.line(
    turn === null
      ? `Go on with: npx tempoclaw chat --session ${key}`
      : `The turn ${turn} goes on; compare: npx tempoclaw turns compare ${from.turn_id} ${turn}`,
  );
}

/** Approvals are decided elsewhere. */
async function watch(context: CommandContext, sessionKey: string, turnId: string): Promise<ExitCode> {
  const { client, err, out } = context;
  const sink = createPlainSink(err);
  const show = createFeedView({ sink, output: err, answer: false });
  const watching = watchSession({
    client,
    sessionKey,
    after: 0,
    onEvent: (event) => {
      if (event.turn_id === turnId) show(event);
    },
    onConnection: (reason) => sink.line(connectionLine(err, reason)),
  });
  try {
    await watching.end(turnId);
    const turn = await client.get<Turn>(pathOf('turns', turnId));
    if (context.json) printJson(out, turn);
    else if (turn.text) printText(out, turn.text);
    return turn.status === 'completed' ? EXIT.ok : EXIT.failed;
  } finally {
    watching.close();
  }
}
