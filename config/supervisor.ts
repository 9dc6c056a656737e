/**
 * What a process of ours sends to the `tempoclaw up` that started it. If something else started it, it sends nothing.
 */
import type { RunsAt } from '#domain/sandbox.ts';

export interface Ready {
  readonly type: 'ready';
  readonly address?: string | undefined;
  /** Where a worker's commands run, unless an agent says otherwise. */
  readonly runs?: RunsAt | undefined;
}

export type SupervisorMessage =
  | Ready
  | { readonly type: 'progress'; readonly step: string }
  | { readonly type: 'beat' };

/** The variable with a further address at which the API listens: a path, for a Unix socket. */
export const API_SOCKET = 'TEMPOCLAW_API_SOCKET';

export function socketOfSupervisor(): string | undefined {
  return process.env[API_SOCKET] || undefined;
}

/** A few of these fit into the silence after which a process counts as hung (cli/services/node-program.ts). */
const BEAT_MS = 2_000;

export function notifySupervisor(message: SupervisorMessage): void {
  // A killed `up` has closed the channel. Its processes continue, and the next `up` ends them.
  if (process.connected) process.send?.(message, () => undefined);
}

/**
 * Sends regular beats from now on, which say that this process works; call it when it is ready. Keeps no process alive.
 */
export function startBeat(): void {
  setInterval(() => notifySupervisor({ type: 'beat' }), BEAT_MS).unref();
}
