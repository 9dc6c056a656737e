/**
 * Implements `tempoclaw record`: the recording of a session, with what its models are asked, which a replay of it finds
 * out.
 */
import type { Command } from 'commander';
import { call } from '#cli/call.ts';
import { CliError } from '#cli/cli-error.ts';
import type { Client } from '#cli/client.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { printText } from '#cli/output.ts';
import { recordingText, writeRecordingFile } from '../recording-file.ts';
import { replays } from '../resource.ts';
import { runReplay } from '../run-replay.ts';
import { differenceWords } from './test.ts';
import type { Recording } from '../schema.ts';

interface RecordOptions extends ApiOptions {
  readonly out?: string;
}

export function register(record: Command): void {
  record
    .argument('<session>', 'key of the session')
    .option('--out <file>', 'write it there; else it is printed')
    .action(run);
}

async function run(session: string, options: RecordOptions): Promise<void> {
  const { client, out } = createContext(options);
  const recording = await recordSession(client, session);
  if (options.out === undefined) return printText(out, recordingText(recording));
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
