/** How long a task waits before it asks for its member's session again, while another message runs there. */

const LIMITS = { shortest: 500, longest: 3_600_000 };

/**
 * Milliseconds: an eighth of the time waited so far, so that a wait for somebody else's turn that waits for people for
 * weeks leaves a small history.
 */
export function busyWait(waited: number): number {
  return Math.round(Math.min(LIMITS.longest, Math.max(LIMITS.shortest, waited / 8)));
}
