/**
 * Implements `demo crash`: it starts a turn, kills the worker while its tool runs, and shows how the turn finishes and
 * what that proves.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredEvent } from '#domain/event.ts';
import { CliError, EXIT, type ExitCode } from '#cli/cli-error.ts';
import { type CommandContext, orMissing, pathOf } from '#cli/command-context.ts';
import { type CrashProof, printProof } from './proof.ts';
import { findWorker, type LocalWorker, nextWorker } from './worker-process.ts';
import { createFeedView, textOf } from '#cli/feed-view.ts';
import { interruptTwice } from '#cli/interrupt.ts';
import { fitted, printJson } from '#cli/output.ts';
import { watchSession } from '#cli/session-watch.ts';
import { durationWords } from '#cli/text.ts';
import type { Agent, MessageReceipt, Page, Tool, ToolCall, ToolInvocation, Turn } from '#cli/wire.ts';

const AGENT = {
  model: 'rehearsal/crash-demo',
  // Nothing needs approval, so that the crash is the only thing to watch.
  exec: { security: 'full', ask: 'off' },
} as const;
const AGENT_KEY = 'crash-demo';
/** Long enough that the kill surely happens during the command, short enough to watch. */
const COMMAND_SECONDS = 6;
/** The command has then run for a moment: it is in the middle, not at the start. */
const KILL_AFTER_MS = 1_500;
const START_WITHIN_MS = 60_000;

export async function demoCrash(context: CommandContext): Promise<ExitCode> {
  const { client, json } = context;
  const run = client.target().run;
  const worker = findWorker(run);
  await setUpAgent(context);
  const id = randomBytes(3).toString('hex');
  const file = `crash-${id}.txt`;
  const narrate = createNarrator(context);
  narrate(`A turn: write a line to ${file}, run a command of ${COMMAND_SECONDS} s, then answer.`);
  const receipt = await client.post<MessageReceipt>(pathOf('sessions', `demo-crash-${id}`, 'messages'), {
    text: `seconds=${COMMAND_SECONDS} path=${file}`,
    agent: AGENT_KEY,
  });
  const outcome = await watchCrash(context, narrate, receipt, worker);
  const proof = await readProof(context, receipt, file, worker.pid, outcome);
  if (json) printJson(context.out, proof);
  else printProof(context.out, proof);
  return proof.turn.status === 'completed' && outcome.wasKilled ? EXIT.ok : EXIT.failed;
}

async function setUpAgent({ client }: CommandContext): Promise<void> {
  const known = await orMissing(client.get<Agent>(pathOf('agents', AGENT_KEY)));
  if (known === undefined)
    await client.post(pathOf('agents'), { key: AGENT_KEY, name: 'Crash demo', ...AGENT });
  else if (known.model !== AGENT.model || known.exec?.ask !== AGENT.exec.ask)
    await client.send('PATCH', pathOf('agents', AGENT_KEY), AGENT);
}

type Narrate = (words: string) => void;

/** Prints our own comments between the feed, each with the time since the start. */
function createNarrator({ err }: CommandContext): Narrate {
  const begin = Date.now();
  return (words) => {
    const time = ((Date.now() - begin) / 1_000).toFixed(1).padStart(5);
    err.line(fitted(err, words.replace(/^/gm, `${err.paint('dim', `${time} s`)}  `)));
  };
}

interface Outcome {
  readonly wasKilled: boolean;
  readonly newWorker: number | undefined;
}

async function watchCrash(
  context: CommandContext,
  narrate: Narrate,
  receipt: MessageReceipt,
  worker: LocalWorker,
): Promise<Outcome> {
  const { client, err } = context;
  const ended = new AbortController();
  const remaining = Promise.withResolvers<never>();
  remaining.promise.catch(() => undefined);
  const running = Promise.withResolvers<'running'>();
  const show = createFeedView({
    sink: { text: () => {}, line: narrate, end: () => {} },
    output: err,
    answer: false,
  });
  const interrupt = interruptTwice({
    first: () => {
      const end = { exitCode: EXIT.interrupted, code: 'Interrupted' };
      remaining.reject(new CliError('Left; the turn goes on by itself.', end));
    },
    second: () => process.exit(EXIT.interrupted),
  });
  const onEvent = (event: StoredEvent): void => {
    if (event.turn_id !== receipt.turn_id) return;
    show(event);
    if (event.type === 'tool.started' && textOf(event.data['tool']) === 'exec') running.resolve('running');
  };
  const watch = watchSession({ client, sessionKey: receipt.session_key, after: 0, onEvent });
  const end = watch.end(receipt.turn_id);
  let newWorker: number | undefined;
  async function showNextWorker(): Promise<void> {
    newWorker = await nextWorker(client.target().run?.path ?? '', worker, ended.signal);
    if (newWorker !== undefined)
      narrate(err.paint(['green', 'bold'], `⚡ tempoclaw up started a new worker, pid ${newWorker}`));
  }
  try {
    const first = await Promise.race([
      running.promise,
      end.then(() => 'ended' as const),
      sleep(START_WITHIN_MS, 'late' as const, { ref: false }),
      remaining.promise,
    ]);
    if (first === 'late')
      throw new CliError(`The command did not start within ${durationWords(START_WITHIN_MS)}.`, {
        remedy: `See: npx tempoclaw turns show ${receipt.turn_id}`,
      });
    if (first === 'ended') return { wasKilled: false, newWorker };
    await Promise.race([sleep(KILL_AFTER_MS), remaining.promise]);
    process.kill(worker.pid, 'SIGKILL');
    narrate(
      err.paint(['red', 'bold'], `⚡ kill -9 ${worker.pid}: the worker is dead, in the middle of exec`),
    );
    const back = showNextWorker();
    await Promise.race([end, remaining.promise, back.then(() => end)]);
    await Promise.race([back, sleep(1_000)]);
    return { wasKilled: true, newWorker };
  } finally {
    ended.abort();
    watch.close();
    interrupt.off();
  }
}

async function readProof(
  { client }: CommandContext,
  receipt: MessageReceipt,
  file: string,
  killed: number,
  outcome: Outcome,
): Promise<CrashProof> {
  const [turn, calls, tools, read] = await Promise.all([
    client.get<Turn>(pathOf('turns', receipt.turn_id)),
    client.get<Page<ToolCall>>(pathOf('turns', receipt.turn_id, 'tool-calls')),
    client.get<Page<Tool>>(pathOf('tools')),
    client.post<ToolInvocation>(pathOf('tools', 'read_file', 'invoke'), {
      args: { path: file },
      agent: AGENT_KEY,
    }),
  ]);
  const replay = new Map(tools.data.map((tool) => [tool.name, tool.replay]));
  return {
    turn,
    killedWorker: outcome.wasKilled ? killed : null,
    newWorker: outcome.newWorker ?? null,
    calls: calls.data.map((call) => ({ ...call, replay: replay.get(call.tool) ?? 'once' })),
    file,
    linesWritten:
      read.ok && read.text !== null
        ? read.text.split('\n').filter((line) => /\bturn\b/.test(line)).length
        : null,
  };
}
