/** What `tempoclaw up` and the processes that it starts say to each other, besides progress and beats. */
import type { RunsAt } from '#domain/sandbox.ts';

/** What a process says of itself when it is ready. */
export interface Ready {
  readonly address?: string | undefined;
  /** Where a worker's commands run, unless an agent says otherwise. */
  readonly runs?: RunsAt | undefined;
}

/** The variable with a further address at which the API listens: a path, for a Unix socket. */
export const API_SOCKET = 'TEMPOCLAW_API_SOCKET';

export function socketOfSupervisor(): string | undefined {
  return process.env[API_SOCKET] || undefined;
}
