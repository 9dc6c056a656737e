/** A chat service refused a request, or cannot accept it now. */

export interface Refusal {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Milliseconds after which the service accepts a retry. */
  readonly retryAfter?: number | undefined;
  /** True if a retry would get the same answer: the chat is gone, or the bot was removed. */
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
