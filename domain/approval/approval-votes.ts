/** AP-4: how decisions are counted where several people must agree. */
import type { ApprovalVerb } from './approval.ts';
import type { ApprovalTerms } from './approval-terms.ts';

export function votesNeeded({ quorum = 1 }: ApprovalTerms): number {
  return quorum;
}

export function isAgreement(decision: ApprovalVerb): boolean {
  return decision === 'approve' || decision === 'approve_always' || decision === 'edit';
}

/**
 * Returns each person once, in the order in which they agreed. `decisions` are in order and belong to one call. A mere
 * claim counts for nobody.
 */
export function agreedPeople(
  decisions: readonly { readonly person: string | null; readonly by: string }[],
): readonly string[] {
  const people = new Map<string, string>();
  for (const { person, by } of decisions) if (person !== null && !people.has(person)) people.set(person, by);
  return [...people.values()];
}
