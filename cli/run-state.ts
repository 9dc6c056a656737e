/** What `tempoclaw up` leaves on disk for programs: one `up` holds a state folder, and run.json says what runs where. */
import { join } from 'node:path';
import type { Config } from '#config';
import { ownFeaturesFolder } from '#config/own-features-folder.ts';
import { isDiskFull } from '#domain/files/disk-full.ts';
import type { RunsAt } from '#domain/sandbox.ts';
import { CliError } from '#cli/cli-error.ts';
import * as processes from '@tempoclaw/dev-services/processes';

/** The part of run.json that other modules provide. `database_url` contains a password. */
export interface PublishedInfo {
  readonly api: string | null;
  /** The same over a Unix socket in a folder of ours: whatever answers there is the API. */
  readonly api_socket: string | null;
  readonly temporal: string;
  readonly temporal_ui: string | null;
  readonly namespace: string;
  readonly task_queue: string;
  readonly database_url: string;
  readonly api_key_file: string;
  /** Where commands run for agents that do not choose a place. */
  readonly runs?: RunsAt | undefined;
  /** The folder of its own features; absent without one. */
  readonly features?: string | undefined;
}

/** What is known before anything has started. */
export function infoBefore({ temporal, stateDir }: Config, namespace: string): PublishedInfo {
  return {
    api: null,
    api_socket: null,
    temporal: '',
    temporal_ui: null,
    namespace,
    task_queue: temporal.taskQueue,
    database_url: '',
    api_key_file: join(stateDir, 'api-key'),
    features: ownFeaturesFolder(),
  };
}

/** The contents of run.json: where everything is, for programs. */
export type RunInfo = processes.RunInfo<PublishedInfo>;
export type RunState = processes.RunFolder<PublishedInfo>;

/** The state of a stack that starts nothing. */
export const UNKEPT: RunState = {
  remember: () => undefined,
  forget: () => undefined,
  publish: () => undefined,
  release: () => undefined,
};

/**
 * Takes the state folder for this process; undefined when a running `up` has it. Throws a CliError when it cannot be
 * made or written.
 */
export function takeStateFolder(stateDir: string): Promise<RunState | undefined> {
  return processes.takeRunFolder<PublishedInfo>({ folder: stateDir, name: 'up' }).catch((error: unknown) => {
    throw unusable(stateDir, error);
  });
}

export const readRunInfo = (stateDir: string) => processes.readRunInfo<PublishedInfo>(stateDir);

/** The pid of the `up` that holds the folder now. */
export function runningUp(stateDir: string): number | undefined {
  return processes.lockHolder({ folder: stateDir, name: 'up' });
}

function unusable(stateDir: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  const isFile = error.code === 'EEXIST' || error.code === 'ENOTDIR';
  const why = isDiskFull(error) ? 'its disk is full' : isFile ? 'it is a file, or below one' : error.message;
  return new CliError(`The state folder ${stateDir} cannot be written: ${why}.`, {
    code: 'StateFolder',
    remedy: isDiskFull(error)
      ? 'Free some space on that disk, or give --state-dir (or TEMPOCLAW_STATE_DIR) a folder on another one.'
      : 'Give --state-dir (or TEMPOCLAW_STATE_DIR) a folder that you may write.',
  });
}
