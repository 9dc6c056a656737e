/** Implements `tempoclaw what-if`: what recorded sessions would have been under another agent or policy. */
import { writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { flagOptions, readFlags } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { outputFile } from '#cli/output-file.ts';
import { CliError, EXIT, usageError } from '#cli/cli-error.ts';
import type { Client } from '#cli/client.ts';
import { type ApiOptions, type CommandContext, createContext, wholeNumber } from '#cli/command-context.ts';
import { interruptTwice } from '#cli/interrupt.ts';
import { printJson } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import { agentFlags } from '#domain/resource/agents.ts';
import { readRecordingFile, recordingFiles } from '../recording-file.ts';
import { replays } from '../resource.ts';
import type { RecordedTurn, Recording, WhatIf } from '../schema.ts';
import { checkLimits, readGate } from '../what-if/gate.ts';
import { junitReport, linkOf, printReport, sessionWords } from '../what-if/print.ts';
import { readChange } from '../what-if/read-change.ts';
import { type Source, startRun, type WhatIfReport } from '../what-if/run.ts';
import { OUTCOMES, readSince, sessionsOf } from './record.ts';

const MAX_SESSIONS = 1_000;
const MAX_AT_ONCE = 16;
const DAYS = 7;

const { name: _name, type: _type, workspace: _workspace, ...ofReplays } = agentFlags;
const AGENT_OPTIONS = flagOptions(ofReplays);

interface WhatIfOptions extends ApiOptions {
  readonly agent?: string;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly outcome?: RecordedTurn['status'];
  readonly max: number;
  readonly revision?: number;
  readonly policy?: string;
  readonly live?: boolean;
  readonly maxCost: number;
  readonly atOnce: number;
  readonly failWhen?: string;
  readonly junit?: string;
}

export function register(command: Command): void {
  command
    .argument('[files...]', 'recordings, or folders of them; else the sessions of --agent')
    .option('--agent <key>', 'its sessions, newest first')
    .option('--since <time>', 'only those that changed since then: 7d (the default), 12h, 30m', readSince)
    .addOption(new Option('--outcome <outcome>', 'only those with a turn that ended so').choices(OUTCOMES))
    .option('--max <n>', 'at most so many', wholeNumber(1, MAX_SESSIONS), 50);
  for (const { option } of AGENT_OPTIONS) command.addOption(option);
  command
    .option('--revision <n>', 'a revision of the agent', wholeNumber(1, 2_147_483_647))
    .option('--policy <file>', 'a YAML or JSON file, in place of the tenant’s policy')
    .option('--live', 'let the models answer themselves, also where the recording could')
    .option('--max-cost <usd>', 'no further turn starts once so much is spent', readUsd, 5)
    .option('--at-once <n>', 'sessions at the same time', wholeNumber(1, MAX_AT_ONCE), 4)
    .option('--fail-when <limits>', "end with 1 when one is exceeded: 'cost>+10% or denied>0'")
    .option('--junit <file>', 'write the results there as JUnit XML', outputFile)
    .action(run);
}

async function run(files: readonly string[], options: WhatIfOptions): Promise<void> {
  const context = createContext(options);
  const { agent, sources } =
    files.length > 0 ? ofFiles(recordingFiles(files), options) : await ofAgent(context, options);
  const change = await readChange(context.client, agent, {
    ...options,
    agent: readFlags(AGENT_OPTIONS, options),
  });
  const limits = options.failWhen === undefined ? [] : readGate(options.failWhen, change.models);
  if (sources.length === 0)
    throw new CliError(`${agent} has no session to replay.`, {
      code: 'NotFound',
      remedy: 'Look further back with --since 30d, or name recordings.',
    });
  if (!context.json) context.err.line(plan(sources.length, change, options));
  const report = await runAll(context, sources, { agent, change }, options);
  const checks = checkLimits(limits, report);
  const isComplete = report.left_out.length === 0;
  const passed = isComplete && checks.every(({ exceeded }) => exceeded === false);
  if (options.junit !== undefined) writeFileSync(options.junit, junitReport(report, checks));
  if (context.json) printJson(context.out, { ...withLinks(context.client, report), limits: checks, passed });
  else printReport(context, report, checks);
  if (!passed) process.exitCode = report.ended_by === 'interrupted' ? EXIT.interrupted : EXIT.failed;
}

function plan(count: number, { models }: WhatIf, { maxCost, atOnce }: WhatIfOptions): string {
  const sessions = `${count} ${count === 1 ? 'session' : 'sessions'}, ${atOnce} at once; no tool runs and nobody is asked`;
  return models === 'recorded'
    ? `${sessions}. Models are not called: the recordings answer.`
    : `${sessions}. Models are called and cost money: at most about ${maxCost} USD (--max-cost).`;
}

async function runAll(
  { client, err, json }: CommandContext,
  sources: readonly Source[],
  what: { readonly agent: string; readonly change: WhatIf },
  { maxCost, atOnce }: WhatIfOptions,
): Promise<WhatIfReport> {
  const say = (line: string): void => {
    if (!json) err.line(printable(line));
  };
  const { report, interrupt } = startRun(
    client,
    sources,
    what,
    { maxUsd: maxCost, atOnce },
    {
      replayed: (one, done, spent) =>
        say(`${done} of ${sources.length}${usdWords(what.change, spent)}: ${sessionWords(one)}`),
      leftOut: (session, why) => say(`${session}: ${why}`),
    },
  );
  const listener = interruptTwice({
    first() {
      err.line('Ending the turns that run; once more to leave at once.');
      interrupt();
    },
    second: () => process.exit(EXIT.interrupted),
  });
  process.once('SIGTERM', interrupt);
  try {
    return await report;
  } catch (error) {
    // Others may still run: what this command no longer waits for is stopped.
    interrupt();
    throw error;
  } finally {
    process.off('SIGTERM', interrupt);
    listener.off();
  }
}

function usdWords({ models }: WhatIf, spent: number | null): string {
  if (models === 'recorded') return '';
  return spent === null ? ', a price is not known' : `, ${spent.toFixed(4)} USD`;
}

interface Chosen {
  readonly agent: string;
  readonly sources: readonly Source[];
}

function ofFiles(files: readonly string[], { agent: named, since, outcome }: WhatIfOptions): Chosen {
  if (since !== undefined || outcome !== undefined)
    throw usageError('--since and --outcome choose sessions of --agent; with files they do nothing.');
  if (files.length > MAX_SESSIONS) throw usageError(`At most ${MAX_SESSIONS} recordings.`);
  const agent = named ?? readRecordingFile(files[0] ?? '').agent;
  const read = (file: string): Promise<Recording> => {
    const recording = readRecordingFile(file);
    if (recording.agent === agent) return Promise.resolve(recording);
    throw new CliError(`${file}: it is of agent ${recording.agent}, not ${agent}.`, { code: 'OtherAgent' });
  };
  return { agent, sources: files.map((file) => ({ name: file, read: async () => read(file) })) };
}

async function ofAgent(
  { client }: CommandContext,
  { agent, since = Date.now() - DAYS * 86_400_000, outcome, max }: WhatIfOptions,
): Promise<Chosen> {
  if (agent === undefined) throw usageError('Name an agent with --agent, or recordings.');
  const sources: Source[] = [];
  for await (const key of sessionsOf(client, agent, since)) {
    if (sources.length >= max) break;
    if (outcome !== undefined && !(await hasOutcome(client, key, outcome))) continue;
    sources.push({ name: key, read: () => readSession(client, key) });
  }
  return { agent, sources };
}

async function readSession(client: Client, key: string): Promise<Recording> {
  return (await call(client, replays.operations.getRecording, { params: { key } })) as Recording;
}

/** False for a session that has no recording. */
async function hasOutcome(client: Client, key: string, outcome: RecordedTurn['status']): Promise<boolean> {
  try {
    return (await readSession(client, key)).turns.some(({ status }) => status === outcome);
  } catch (error) {
    if (error instanceof CliError && error.code !== 'Unreachable') return false;
    throw error;
  }
}

function withLinks(client: Client, report: WhatIfReport) {
  const { url } = client.target();
  return {
    ...report,
    sessions: report.sessions.map((one) => ({ ...one, link: one.compare && linkOf(url, one.compare) })),
  };
}

function readUsd(value: string): number {
  const usd = Number(value);
  if (usd > 0 && usd <= 1_000_000) return usd;
  throw new InvalidArgumentError('It is an amount of US dollars above 0.');
}
