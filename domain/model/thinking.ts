/** How much a model may think before it answers. Each provider maps a level to its own; some models have only a few. */

/** From nothing to the model's maximum. */
export const THINKING = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Thinking = (typeof THINKING)[number];

/** The lower of two levels; one that is not set has no effect. */
export function lesserThinking(one: Thinking | undefined, other: Thinking | undefined): Thinking | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return THINKING.indexOf(one) <= THINKING.indexOf(other) ? one : other;
}

/**
 * Whether a child with this level stays within its parent's (SA-1). A parent without a level thinks as its provider
 * chooses, and only `none` is certainly within that.
 */
export function isWithinThinking(child: Thinking, parent: Thinking | undefined): boolean {
  return THINKING.indexOf(child) <= THINKING.indexOf(parent ?? 'none');
}
