/** The approvals that wait, as the stream of them tells. */
import { computed, signal } from '@preact/signals';
import type { StreamedApproval } from '../../api/event-stream.ts';

export type Approval = StreamedApproval;

/** Decided ones that are still shown where they are open. */
const MAX_DECIDED = 200;

export function createApprovalList() {
  const all = signal<ReadonlyMap<string, Approval>>(new Map());
  return {
    /** Those that have waited longest come first. */
    pending: computed(() =>
      [...all.value.values()]
        .filter(({ status }) => status === 'pending')
        .toSorted((a, b) => a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id)),
    ),
    find: (id: string): Approval | undefined => all.value.get(id),
    add(changed: readonly Approval[]): void {
      const next = new Map(all.peek());
      for (const approval of changed) {
        // The order of the map is that of the changes.
        next.delete(approval.id);
        next.set(approval.id, approval);
      }
      const decided = [...next.values()].filter(({ status }) => status !== 'pending');
      for (const { id } of decided.slice(0, -MAX_DECIDED)) next.delete(id);
      all.value = next;
    },
    /** Removes one until the stream has it again. */
    drop(id: string): void {
      all.value = new Map([...all.peek()].filter(([other]) => other !== id));
    },
    clear(): void {
      all.value = new Map();
    },
  };
}

/** Whether each word of the filter is in what a person knows the approval by. */
export function matches(approval: Approval, filter: string): boolean {
  const { summary, tool, agent, user, session_key: session, risk, reason } = approval;
  const text = [summary, tool, agent, user, session, risk, reason].join(' ').toLowerCase();
  const words = filter.toLowerCase().split(/\s+/);
  return words.every((word) => text.includes(word));
}
