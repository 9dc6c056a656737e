/** Recordings as files: JSON, so that a change of one can be read in git. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '#cli/cli-error.ts';
import { isNestedDeeper } from '#domain/nesting.ts';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import { MAX_RECORDING_BYTES, type Recording, recordingSchema } from './schema.ts';

const MAX_DEPTH = 100;
const ENDING = '.rec';

/** Two sessions never have the same name. */
export function recordingName(session: string): string {
  return `${encodeURIComponent(session)}${ENDING}`;
}

/** A folder stands for the recordings in it, as `record --agent` writes them. @throws CliError InvalidRecording */
export function recordingFiles(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith(ENDING));
    if (names.length === 0)
      throw new CliError(`${path} has no recordings (NAME${ENDING})`, { code: 'InvalidRecording' });
    return names.toSorted().map((name) => join(path, name));
  });
}

/** @throws CliError InvalidRecording */
export function readRecordingFile(path: string): Recording {
  const invalid = (why: string): CliError => new CliError(`${path}: ${why}`, { code: 'InvalidRecording' });
  let text: string;
  try {
    if (statSync(path).size > MAX_RECORDING_BYTES)
      throw invalid(`it is larger than ${MAX_RECORDING_BYTES} bytes`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw invalid(error instanceof Error ? error.message : 'it cannot be read');
  }
  if (isNestedDeeper(text, MAX_DEPTH)) throw invalid(`it nests deeper than ${MAX_DEPTH}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(`it is not JSON; was it cut off? ${error instanceof Error ? error.message : ''}`);
  }
  const read = recordingSchema.safeParse(value);
  if (read.success) return read.data;
  throw invalid(`it is not a recording: ${schemaProblem(read.error, 'the file')}`);
}

export function writeRecordingFile(path: string, recording: Recording): void {
  writeFileSync(path, recordingText(recording));
}

export function recordingText(recording: Recording): string {
  return `${JSON.stringify(recording, undefined, 1)}\n`;
}
