/** How much a model may think before it answers. Each provider reads a level as it can; some models have but a few. */

/** From nothing to all that the model can. */
export const THINKING = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Thinking = (typeof THINKING)[number];

/** The lesser of two; one that is not set leaves the other. */
export function lesserThinking(one: Thinking | undefined, other: Thinking | undefined): Thinking | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return THINKING.indexOf(one) <= THINKING.indexOf(other) ? one : other;
}

/**
 * Whether a child that is to think so much stays within what its parent does (SA-1). A parent without a level thinks as its
 * provider likes, which no level but `none` is known to stay within.
 */
export function isWithinThinking(child: Thinking, parent: Thinking | undefined): boolean {
  return THINKING.indexOf(child) <= THINKING.indexOf(parent ?? 'none');
}
