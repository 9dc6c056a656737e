/** What a webhook that tells of a task keeps: its address shows that it is one, and its secrets are sealed. */

/** Before the address of the client. */
export const PUSH = 'a2a:';

export interface PushSecrets {
  readonly token: string;
  /** The header Authorization; empty when there is none. */
  readonly authorization: string;
}

export function pushAddressOf(url: string): string | undefined {
  return url.startsWith(PUSH) ? url.slice(PUSH.length) : undefined;
}
