/**
 * What a program sends to the one that started it (node-program.ts). If something else started it, it sends nothing.
 */

/** `Ready` is what the program says of itself when it is ready, such as its address. */
export type SupervisorMessage<Ready extends object> =
  | ({ readonly type: 'ready' } & Ready)
  | { readonly type: 'progress'; readonly step: string }
  | { readonly type: 'beat' };

/** A few of these fit into the silence after which a process counts as hung. */
const BEAT_MS = 2_000;

export function notifySupervisor<Ready extends object>(message: SupervisorMessage<Ready>): void {
  // A killed supervisor has closed the channel. Its processes continue, and its next start ends them.
  if (process.connected) process.send?.(message, () => undefined);
}

/**
 * Sends regular beats from now on, which say that this process works; call it when it is ready. Keeps no process alive.
 */
export function startBeat(): void {
  setInterval(() => notifySupervisor({ type: 'beat' }), BEAT_MS).unref();
}
