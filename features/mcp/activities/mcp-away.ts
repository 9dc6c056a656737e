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
