/** There is no connection: why, and when there may be one. */
export class McpAway extends Error {
  /** Without what the server said, which `said` is: words from outside. */
  readonly words: string;
  readonly said: string;
  constructor(words: string, said = '') {
    super(said === '' ? words : `${words}: ${said}`);
    this.words = words;
    this.said = said;
  }
}
