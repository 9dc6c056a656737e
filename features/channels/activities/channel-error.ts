/** A chat service said no, or not now. */

export interface Refusal {
  /** HTTP's, of the answer. */
  readonly status: number;
  /** Milliseconds; the service said when to come again. */
  readonly retryAfter?: number | undefined;
  /** Trying again would be answered the same: the chat is gone, the bot was thrown out. */
  readonly isFinal?: boolean | undefined;
}

export class ChannelError extends Error {
  override readonly name = 'ChannelError';
  readonly refusal: Refusal;

  constructor(message: string, refusal: Refusal) {
    super(message);
    this.refusal = refusal;
  }
}
