/** Sends decisions, each for the very call that was shown. */
import type { Operations } from '@tempoclaw/client';
import { request } from '../../api/request.ts';
import { report } from '../../app/toasts.tsx';
import type { Approval } from './approval-list.ts';

export type Decision = Omit<Operations['POST /v1/approvals/{id}/decision']['body'], 'digest'>;

const DONE: Readonly<Record<string, string>> = {
  approve: 'Approved',
  approve_always: 'Approved, and allowed from now on',
  reject: 'Rejected',
  edit: 'Approved with other arguments',
  respond: 'Answered in its place',
};

/** Resolves with whether it was taken. The stream then says what became of the approval. */
export async function decide({ id, digest }: Approval, decision: Decision): Promise<boolean> {
  const body = { ...decision, digest };
  const result = await request('POST /v1/approvals/{id}/decision', { params: { id }, body });
  if (!result.ok) return report(result);
  const { tally, status } = result.data;
  const done = DONE[decision.decision] ?? status;
  return report(result, status === 'pending' && tally ? `${done}: ${tally}` : done);
}
