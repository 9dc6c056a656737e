/**
 * Implements `tempoclaw record`: the recording of a session, or of an agent's sessions that a query finds, with what
 * its models are asked, which a replay finds out.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { call } from '#cli/call.ts';
import { outputProblem } from '#cli/output-file.ts';
import { CliError, usageError } from '#cli/cli-error.ts';
import type { Client } from '#cli/client.ts';
import { type ApiOptions, type CommandContext, createContext, wholeNumber } from '#cli/command-context.ts';
import { printJson, printText } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import { sessions as resource } from '#domain/resource/sessions.ts';
import { recordingName, recordingText, writeRecordingFile } from '../recording-file.ts';
import { replays } from '../resource.ts';
import { runReplay } from '../run-replay.ts';
import type { RecordedTurn, Recording } from '../schema.ts';
import { differenceWords } from './test.ts';

export const OUTCOMES = ['completed', 'failed', 'stopped'] as const;
const MAX_SESSIONS = 1_000;
const PAGE = 100;
/** Sessions of replays and evals themselves. */
const OF_REPLAYS = /^replay-/;

interface RecordOptions extends ApiOptions {
  readonly out?: string;
  readonly agent?: string;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly outcome?: RecordedTurn['status'];
  readonly max: number;
}

export function register(record: Command): void {
  record
    .argument('[session]', 'key of the session')
    .option('--out <path>', 'write it there; else it is printed. With --agent a folder')
    .option('--agent <key>', 'sessions of this agent, newest first, into the folder --out')
    .option('--since <time>', 'only those that changed since then: 7d, 12h, 30m', readSince)
    .addOption(new Option('--outcome <outcome>', 'only those with a turn that ended so').choices(OUTCOMES))
    .option('--max <n>', 'at most so many', wholeNumber(1, MAX_SESSIONS), 100)
    .action(run);
}

async function run(session: string | undefined, options: RecordOptions): Promise<void> {
  const context = createContext(options);
  if ((session === undefined) === (options.agent === undefined))
    throw usageError('Name a session, or an agent with --agent.');
  if (session !== undefined && (options.since !== undefined || options.outcome !== undefined))
    throw usageError('--since and --outcome choose sessions of --agent; with a session they do nothing.');
  const problem = session === undefined ? undefined : outputProblem(options.out ?? '-');
  if (problem !== undefined) throw usageError(`--out: ${problem}`);
  if (options.agent !== undefined) return recordDataset(context, options.agent, options);
  const recording = await recordSession(context.client, session ?? '');
  if (options.out === undefined) return printText(context.out, recordingText(recording));
  writeRecordingFile(options.out, recording);
}

/** @throws CliError when the session cannot be replayed as it is */
export async function recordSession(client: Client, key: string): Promise<Recording> {
  const found = await call(client, replays.operations.getRecording, { params: { key } });
  const { difference, recording } = await runReplay(client, found as Recording, 'record');
  if (difference)
    throw new CliError(`${key} cannot be recorded: its replay differs. ${differenceWords(difference)}`, {
      code: 'RecordingDiffers',
      remedy:
        'The rules or tools have changed since, or it uses what a recording does not have (docs/recordings.md).',
    });
  return recording;
}

/** Sessions that cannot be recorded are named, and the others are. */
async function recordDataset(
  { client, out, err, json }: CommandContext,
  agent: string,
  { out: folder, since = 0, outcome, max }: RecordOptions,
): Promise<void> {
  if (folder === undefined) throw usageError('--agent needs --out FOLDER.');
  mkdirSync(folder, { recursive: true });
  const files: string[] = [];
  for await (const key of sessionsOf(client, agent, since)) {
    if (files.length >= max) break;
    try {
      const found = await call(client, replays.operations.getRecording, { params: { key } });
      if (outcome !== undefined && !found.turns.some(({ status }) => status === outcome)) continue;
      const file = join(folder, recordingName(key));
      writeRecordingFile(file, await recordSession(client, key));
      files.push(file);
      if (!json) out.line(file);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      err.line(printable(`${key}: ${error.message}`));
    }
  }
  if (json) printJson(out, { data: files });
  else if (files.length === 0)
    err.line(`No session of ${agent} was recorded; --since and --outcome choose them.`);
}

/** Keys of sessions that changed since then, newest first. */
export async function* sessionsOf(client: Client, agent: string, since: number): AsyncGenerator<string> {
  const { listSessions } = resource.operations;
  let cursor: string | undefined;
  do {
    const query = { agent, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const page = await call(client, listSessions, { query });
    for (const { key, updated_at } of page.data) {
      if (Date.parse(updated_at) < since) return;
      if (!OF_REPLAYS.test(key)) yield key;
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** For commander: milliseconds since 1970. */
export function readSince(value: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(value) ?? [];
  const milliseconds = UNITS[unit];
  if (count === undefined || milliseconds === undefined)
    throw new InvalidArgumentError('It is a time such as 7d, 12h or 30m.');
  return Date.now() - Number(count) * milliseconds;
}
