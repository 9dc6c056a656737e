/** Starts the worker or the API of a stack, with the settings that its parts must agree on. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '#config';
import { childEnvironment } from '#config';
import type { Ready } from '#config/supervisor.ts';
import { type Child, startNodeProgram } from '@tempoclaw/dev-services/processes';
import type { PublishedInfo } from '#cli/run-state.ts';

/** The stack that it is a part of. */
export interface Surroundings {
  readonly options: { readonly config: Config; readonly onEvent: (text: string) => void };
  readonly info: Pick<PublishedInfo, 'temporal' | 'temporal_ui' | 'namespace' | 'database_url'>;
  readonly processes: { spawned(name: Program['name']): (child: Child) => void };
}

export interface Program {
  readonly name: 'worker' | 'api';
  readonly title: string;
  /** Path from the root of the package. */
  readonly main: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stopGraceMs: number;
  readonly onProgress: (detail: string) => void;
}

/** Resolves when it is ready; a program that hangs afterwards is killed. Throws as `startNodeProgram` does. */
export function startProgram(parts: Surroundings, program: Program): Promise<{ child: Child; ready: Ready }> {
  const { config, onEvent } = parts.options;
  return startNodeProgram<Ready>({
    name: program.title,
    main: fileURLToPath(new URL(`../../${program.main}`, import.meta.url)),
    // Only a later start reads this, to find what is left of this one (leftovers.ts).
    args: [realpathSync(config.stateDir)],
    env: { ...programEnvironment(parts), ...program.env },
    logFile: join(config.stateDir, 'logs', `${program.name}.log`),
    stopGraceMs: program.stopGraceMs,
    onProgress: program.onProgress,
    onSpawn: parts.processes.spawned(program.name),
    onHung: (silentMs) => onEvent(`${program.title} has not answered for ${silentMs / 1_000} s; killing it`),
  });
}

/** The settings that the parts must agree on, passed as the variables that config.ts reads. */
function programEnvironment({ options: { config }, info }: Surroundings): Record<string, string> {
  const own = config.temporal.address === undefined;
  return childEnvironment({
    TEMPOCLAW_STATE_DIR: config.stateDir,
    TEMPOCLAW_WORKSPACE_ROOT: config.workspaceRoot,
    TEMPOCLAW_CONFIG: config.file,
    TEMPOCLAW_HOST: config.api.host,
    TEMPOCLAW_TASK_QUEUE: config.temporal.taskQueue,
    TEMPOCLAW_TEMPORAL_UI_URL: info.temporal_ui ?? undefined,
    TEMPOCLAW_LOG_LEVEL: config.log.level,
    TEMPORAL_ADDRESS: info.temporal,
    TEMPORAL_NAMESPACE: info.namespace,
    DATABASE_URL: info.database_url,
    // Our own dev server uses plain text, whatever a profile says about another one.
    ...(own && { TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: undefined }),
  });
}
