/** Texts about delegated work that models read, in the terms of GoClaw's prompts (DE-*). */
import { ASSIGNMENT_LABEL, type AssignmentStatus, cutResult, labelOfTask } from './assignment.ts';
import { DELEGATION_LIMITS } from './delegation.ts';

/** A delegation as the agent that gave the work reads it. */
export interface ShownDelegation {
  readonly id: string;
  readonly target_key: string;
  readonly label: string;
  readonly status: AssignmentStatus;
  readonly result: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Warnings of gates that let the work pass. */
  readonly warnings: readonly string[];
}

export interface DelegationTarget {
  readonly key: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly frontmatter?: string | null;
}

const RESULT_OF_SEVERAL = 8_000;
const RESULT_OF_ONE = 32_000;

export function delegationLabel(task: string): string {
  return labelOfTask(task, ASSIGNMENT_LABEL, 'delegation');
}

/** One message for all results of an origin, in the order of their ends. */
export function delegationResults(ended: readonly ShownDelegation[]): string {
  const max = ended.length === 1 ? RESULT_OF_ONE : RESULT_OF_SEVERAL;
  return ended.map((one) => resultBlock(one, max)).join('\n\n');
}

function resultBlock(one: ShownDelegation, limit: number): string {
  if (one.status !== 'completed') return `[Delegation to ${one.target_key} failed: ${whyNot(one)}]`;
  return [
    `[Delegation result from ${one.target_key}]`,
    cutResult(one, limit, `delegate with action=get and delegation_id=${one.id}`),
    ...one.warnings,
  ].join('\n\n');
}

/** The result of the call that waited for a delegation. */
export function syncDelegationText(one: ShownDelegation): string {
  return (
    [one.result ?? '', ...one.warnings].filter((part) => part.trim() !== '').join('\n\n') || '(no result)'
  );
}

export function whyNot({ error, status }: Pick<ShownDelegation, 'error' | 'status'>): string {
  if (status === 'cancelled') return `it was cancelled${error ? `: ${error.message}` : ''}`;
  if (error) return error.message;
  return status === 'timeout' ? 'its time was up' : 'no reason is known';
}

/** About `team_task_id` of work that is not given to a member of a team. */
export const NOT_A_TASK =
  'team_task_id: only work for a member of your team is tied to a task of the board; leave it out, and end the task with team_tasks';

/** The refusals of a `team_task_id`. */
export const TASK_WORDS = {
  unknown: (id: string) =>
    `team_task_id ${id} not found. Use team_tasks action=list to see available tasks, or omit team_task_id to auto-create.`,
  closed: (id: string, status: string) => `team_task_id ${id} is already ${status}`,
  foreign: (id: string) => `team_task_id ${id} belongs to a different context`,
} as const;

/** The first message in the target's session. */
export function delegatedTask(work: {
  readonly from: string;
  readonly task: string;
  readonly context?: string | undefined;
  readonly dependencies: readonly { readonly label: string; readonly result: string }[];
  readonly files: readonly string[];
  /** Dependencies that were left out: too many, too large, or two of one name. */
  readonly leftOut: readonly string[];
}): string {
  const parts = [`[Delegated by ${work.from}]\n\n${work.task}`];
  if (work.context) parts.push(`Context:\n${work.context}`);
  for (const { label, result } of work.dependencies)
    parts.push(
      `Result of "${label}", which this builds on:\n${result.slice(0, DELEGATION_LIMITS.dependency).toWellFormed()}`,
    );
  if (work.files.length > 0)
    parts.push(`Files that come with it:\n${work.files.map((path) => `- ${path}`).join('\n')}`);
  if (work.leftOut.length > 0)
    parts.push(
      `Files that did not fit and so do not come with it:\n${work.leftOut.map((path) => `- ${path}`).join('\n')}`,
    );
  return parts.join('\n\n');
}

/**
 * The text of DELEGATION.md (DE-3); undefined for an agent without links. `targets` may be the first part of `total`
 * targets.
 */
export function delegationGuide(targets: readonly DelegationTarget[], total: number): string | undefined {
  if (total === 0) return undefined;
  const how =
    'Give work to another agent with the tool delegate (agent_key, task). It sees nothing of this conversation: write down all it needs.';
  if (total > DELEGATION_LIMITS.inlineTargets)
    return `# DELEGATION.md\n\n${how}\n\nYou can delegate to ${total} agents. Find the right one with delegate_search (query: what it should be good at) before you delegate.`;
  const lines = targets.map(
    ({ key, name, description, frontmatter }) =>
      `- ${key}${name && name !== key ? ` (${oneLine(name)})` : ''}${description ? `: ${oneLine(description)}` : ''}${frontmatter ? ` [${oneLine(frontmatter)}]` : ''}`,
  );
  return `# DELEGATION.md\n\n${how}\n\nAgents:\n${lines.join('\n')}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 300).toWellFormed();
}
