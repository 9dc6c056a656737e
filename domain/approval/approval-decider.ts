/** AP-4: whether a caller may decide an approval. A key or a token proves the caller's identity, never a payload. */
import type { DecideInput, ApprovalVerb } from './approval.ts';
import { type Approvers, approverNames, type ApprovalTerms } from './approval-terms.ts';
import { isAgreement, votesNeeded } from './approval-votes.ts';
import { personOf } from '../person.ts';
import type { Scope } from '../schema/api-key.ts';

export interface Decider {
  /** The name that is shown and recorded. */
  readonly by: string;
  /** The user that the credential belongs to; null for a service's key and for a mere claim. */
  readonly user: string | null;
  readonly scopes: readonly Scope[];
  /** Groups that an identity provider has the person in. */
  readonly groups?: readonly string[];
  /**
   * `key` is a key of the API, `token` is signed with the deployment's secret, `claim` is only what the payload says.
   */
  readonly proof: 'key' | 'token' | 'claim';
}

export interface Question {
  readonly terms: ApprovalTerms;
  /** The user whose turn asks. */
  readonly requester: string | null;
  readonly escalated: boolean;
}

/** Says why the request of `who` has no effect, whatever the call is; undefined when it may have one. */
export function requestProblem(
  id: string,
  { decision, digest }: Pick<DecideInput, 'digest'> & { readonly decision: ApprovalVerb },
  question: Question & { readonly digest: string },
  who: Decider,
): { readonly type: 'Forbidden' | 'Conflict' | 'InvalidInput'; readonly message: string } | undefined {
  const problem = deciderProblem(question, who);
  if (problem !== undefined) return { type: 'Forbidden', message: `approval ${id}: ${problem}` };
  if (digest !== undefined && digest !== question.digest)
    return {
      type: 'Conflict',
      message: `approval ${id}: the call has been edited since you saw it; look at it again`,
    };
  // A token contains the digest itself.
  const isNamed = digest !== undefined || who.proof === 'token';
  if (votesNeeded(question.terms) > 1 && isAgreement(decision) && !isNamed)
    return {
      type: 'InvalidInput',
      message: `approval ${id}: several people must agree to one call: send the digest of the call that you looked at`,
    };
  return undefined;
}

/** Whether a message must prove who sends it: a mere claim decides nothing. */
export function isBound(terms: ApprovalTerms): boolean {
  return approversOf(terms) !== undefined;
}

/** Undefined when `who` may decide; otherwise the reason. */
export function deciderProblem(question: Question, who: Decider): string | undefined {
  const { terms, requester } = question;
  const approvers = approversOf(terms);
  // A key belongs to one user. Anyone who can reach Temporal or knows the secret may decide what is bound to no user.
  if (approvers === undefined) return who.proof === 'key' ? ownProblem(question, who) : undefined;
  if (who.proof === 'claim')
    return 'it is bound to certain people: decide by the HTTP API, or with the decision token of a user';
  if (countsPeople(terms)) {
    if (who.user === null) return 'it counts people: decide with a key that speaks for a user';
    if (terms.exclude_requester && requester !== null && personOf(who.user) === personOf(requester))
      return 'the user who asked for the call may not decide it';
  }
  return isAmong(approvers, who) || isEscalatedTo(question, who) ? undefined : NOT_AMONG;
}

const NOT_AMONG = 'you are not among its approvers';

/**
 * Without approvers, the user of the turn, keys without a user, and admins may decide. When the turn has no user,
 * anybody may.
 */
function ownProblem(question: Question, who: Decider): string | undefined {
  const { requester } = question;
  const isOwn = requester === null || who.user === null || who.user === requester;
  return isOwn || who.scopes.includes('admin') || isEscalatedTo(question, who) ? undefined : NOT_AMONG;
}

/** A rule with a quorum but without approvers means everybody who may approve. */
function approversOf(terms: ApprovalTerms): Approvers | undefined {
  return terms.approvers ?? (countsPeople(terms) ? { scopes: ['approve'] } : undefined);
}

function countsPeople({ quorum = 1, exclude_requester = false }: ApprovalTerms): boolean {
  return quorum > 1 || exclude_requester;
}

function isEscalatedTo({ terms, escalated }: Question, who: Decider): boolean {
  return escalated && terms.escalate !== undefined && isAmong(terms.escalate.to, who);
}

function isAmong({ users = [], scopes = [] }: Approvers, who: Decider): boolean {
  return (
    approverNames(who).some((name) => users.includes(name)) ||
    scopes.some((scope) => who.scopes.includes(scope))
  );
}

/** The groups without which `who` might not decide; undefined when it may decide without any. */
export function neededGroups(question: Question, who: Decider): string[] | undefined {
  const isEnough = (groups: readonly string[]): boolean =>
    deciderProblem(question, { ...who, groups }) === undefined;
  return isEnough([]) ? undefined : (who.groups ?? []).filter((group) => isEnough([group]));
}

/**
 * Whether an edited call, to which `other` applies, may be decided on these terms, so that an edit cannot avoid a
 * stricter rule.
 */
export function coversTerms(terms: ApprovalTerms, other: ApprovalTerms): boolean {
  if (other.approvers === undefined && !countsPeople(other)) return true;
  return JSON.stringify(decidersOf(terms)) === JSON.stringify(decidersOf(other));
}

function decidersOf(terms: ApprovalTerms): readonly unknown[] {
  const { users = [], scopes = [] } = approversOf(terms) ?? {};
  const { quorum = 1, exclude_requester = false } = terms;
  return [users.toSorted(), scopes.toSorted(), quorum, exclude_requester];
}
