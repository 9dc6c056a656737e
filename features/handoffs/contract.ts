/**
 * Handing over a conversation (DE-5): the chat's messages then go to another agent, until somebody clears the route.
 * Pure rules and texts; the route is a row.
 */

export const HANDOFF_LIMITS = { reason: 2_000, summary: 8_000, path: 10 } as const;

/** Where the messages of a chat go. */
export interface HandoffRoute {
  readonly channel: string;
  readonly chat_id: string;
  readonly from: string;
  readonly to: string;
  /** Key of the session in which the new agent answers the chat. */
  readonly session_key: string;
  readonly reason: string;
  readonly created_by: string;
  /** Agents that have had the chat since a person last wrote, oldest first. */
  readonly path: readonly string[];
}

/** Without this check, agents could pass a chat around for ever while nobody writes. */
export function handoffLoop(path: readonly string[], from: string, to: string): string | undefined {
  if (to === from) return 'an agent cannot hand a conversation to itself';
  if (path.includes(to))
    return `"${to}" has handed this conversation on already (${[...path, from].join(' → ')}); wait for the user's next message, or answer yourself`;
  if (path.length >= HANDOFF_LIMITS.path)
    return `this conversation has been handed on ${path.length} times without a word of the user; answer yourself`;
  return undefined;
}

export const HANDOFF_WORDS = {
  noAgent: 'agent is required for handoff',
  noReason: 'reason is required for handoff',
  noTarget: (target: string) => `target agent "${target}" not found`,
  noLink: (target: string) => `no link from this agent to "${target}" — create an agent link first`,
  noChannel: 'handoff requires channel context (not available in this session type)',
  clearNoChannel: 'clear requires channel context',
  unknownAction: (action: string) => `unknown action: ${action} (use 'transfer' or 'clear')`,
  done: (target: string) =>
    `Conversation handed off to "${target}". The next messages of this chat go to that agent until the route is cleared.`,
  cleared: 'Handoff route cleared. Messages will route to the default agent for this chat.',
  /** The first message that the new agent reads. */
  first: (from: string, reason: string, summary: string | undefined) =>
    `[Handoff from ${from}]\nReason: ${reason}${summary ? `\n\nConversation so far:\n${summary.slice(-HANDOFF_LIMITS.summary).toWellFormed()}` : ''}\n\nPlease continue the conversation with the user.`,
} as const;
