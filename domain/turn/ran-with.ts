/** What can change beside the revision of a turn's agent, as it was when the turn started. */
export interface RanWith {
  /** SHA-256 of the tenant's policy; absent without one. */
  readonly policy?: string;
  /** Version of the tenant's own tools, MCP servers and skills; absent while it has had none. */
  readonly tools?: number;
}
