/**
 * AP-4: who may decide an approval, how many must agree, and what happens while nobody decides. Rules contain the
 * terms, and rows keep them.
 */
import { personOf } from '../person.ts';
import type { RunsAt } from '../sandbox.ts';
import type { ReplayClass } from '../tool.ts';
import type { approvalTermsSchema, approversSchema } from '../schema/approval-terms.ts';
import type { Kept } from '../schema/scalars.ts';

/** Any of these may decide: a user by id, the people of a group (`group:NAME`), or a key that has the scope. */
export type Approvers = Kept<typeof approversSchema>;

const GROUP = 'group:';

/** The names by which approvers can mean a person. A user whose name looks like a group's is not one. */
export function approverNames({
  user,
  groups = [],
}: {
  readonly user: string | null;
  readonly groups?: readonly string[] | undefined;
}): readonly string[] {
  const names = groups.map((group) => GROUP + group);
  return user === null || user.startsWith(GROUP) ? names : [user, ...names];
}

export type ApprovalTerms = Kept<typeof approvalTermsSchema> & {
  /**
   * Messages of Temporal clients must contain a decision token. The settings decide this when the approval is created.
   */
  readonly decision_token?: true | undefined;
};

/** The terms as an approval's row keeps them: the state when the approval was created. */
export interface RecordedTerms extends ApprovalTerms {
  /** Where the call runs its commands; absent for other calls. */
  readonly runs?: RunsAt;
  /** The sender of the message runs the call and answers with its result: it can be neither approved nor edited. */
  readonly client_tool?: true;
  /** A program outside runs the call (features/guard): its replay class there. The approval's row has its arguments. */
  readonly guarded?: ReplayClass;
}

const TERMS = [
  'approvers',
  'quorum',
  'exclude_requester',
  'expires_seconds',
  'on_expiry',
  'escalate',
  'remind_seconds',
] as const satisfies readonly (keyof ApprovalTerms)[];

/** Returns the terms among a rule's fields; undefined when it has none. */
export function termsOf(rule: ApprovalTerms): ApprovalTerms | undefined {
  const values = TERMS.filter((name) => rule[name] !== undefined);
  return values.length === 0 ? undefined : Object.fromEntries(values.map((name) => [name, rule[name]]));
}

/** Says why terms can never be met; undefined when they can. */
export function termsProblem(terms: ApprovalTerms): string | undefined {
  const { approvers, quorum = 1, escalate, expires_seconds } = terms;
  if (escalate !== undefined && expires_seconds !== undefined && escalate.after_seconds >= expires_seconds)
    return 'escalate.after_seconds must be less than expires_seconds';
  if (approvers === undefined) return undefined;
  const all = [approvers, ...(escalate === undefined ? [] : [escalate.to])];
  if (all.some(({ scopes = [] }) => scopes.length > 0)) return undefined;
  const users = all.flatMap(({ users = [] }) => users);
  if (users.some((name) => name.startsWith(GROUP))) return undefined;
  return new Set(users.map(personOf)).size < quorum
    ? `a quorum of ${quorum} needs as many approvers`
    : undefined;
}
