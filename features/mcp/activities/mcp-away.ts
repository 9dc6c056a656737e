/** There is no connection: why, and when there may be one. */
export class McpAway extends Error {
  /** Without what the server said, which `said` is: words from outside. */
  readonly words: string;
  readonly reply: string;
  constructor(words: string, text = '') {
    super(text === '' ? words : `${words}: ${text}`);
    this.words = words;
    this.reply = text;
  }
}
