/** The user of a call has no login at the server, or one that it no longer takes: nothing was sent. */
export class LoginNeeded extends Error {}

/** What went wrong may be wrapped, by the connection or by the SDK. */
export function loginNeededIn(error: unknown): LoginNeeded | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof LoginNeeded) return cause;
  return undefined;
}

/** There is no connection; it says why, and when there may be one. */
export class McpAway extends Error {
  /** The message without the server's own text, which is `reply` and untrusted. */
  readonly words: string;
  readonly reply: string;
  constructor(words: string, text = '') {
    super(text === '' ? words : `${words}: ${text}`);
    this.words = words;
    this.reply = text;
  }
}
