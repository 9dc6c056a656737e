/** What a person may do with a task, by its status. */
import type { Operations } from '@tempoclaw/client';
import { request } from '../../api/request.ts';
import { notify, report } from '../../app/toasts.tsx';

export type Task = Operations['GET /v1/teams/{team}/tasks']['answer']['data'][number];

const ACTIONS = {
  assign: 'POST /v1/teams/{team}/tasks/{id}/assign',
  comment: 'POST /v1/teams/{team}/tasks/{id}/comment',
  approve: 'POST /v1/teams/{team}/tasks/{id}/approve',
  reject: 'POST /v1/teams/{team}/tasks/{id}/reject',
  release: 'POST /v1/teams/{team}/tasks/{id}/release',
  complete: 'POST /v1/teams/{team}/tasks/{id}/complete',
  cancel: 'POST /v1/teams/{team}/tasks/{id}/cancel',
  retry: 'POST /v1/teams/{team}/tasks/{id}/retry',
  clear_ask_user: 'POST /v1/teams/{team}/tasks/{id}/clear_ask_user',
} as const;
export type Action = keyof typeof ACTIONS;

type Moves = Readonly<Partial<Record<Task['status'], Action>>>;

export interface Column {
  readonly title: string;
  readonly statuses: readonly Task['status'][];
  /** What moves a task of the status into this column. */
  readonly moves: Moves;
}

const OPENED: Moves = {
  in_progress: 'release',
  in_review: 'reject',
  failed: 'retry',
  cancelled: 'retry',
  stale: 'retry',
};
const COMPLETED: Moves = { pending: 'complete', in_progress: 'complete', in_review: 'approve' };
const CANCELLED: Moves = {
  pending: 'cancel',
  blocked: 'cancel',
  in_progress: 'cancel',
  in_review: 'cancel',
};

export const COLUMNS: readonly Column[] = [
  { title: 'Open', statuses: ['pending'], moves: OPENED },
  { title: 'Blocked', statuses: ['blocked'], moves: {} },
  { title: 'In progress', statuses: ['in_progress'], moves: {} },
  { title: 'In review', statuses: ['in_review'], moves: {} },
  { title: 'Completed', statuses: ['completed'], moves: COMPLETED },
  { title: 'Ended', statuses: ['failed', 'cancelled', 'stale'], moves: CANCELLED },
];

/** Resolves with whether it was done; says why not. */
export async function act(
  { team, id }: Task,
  action: Action,
  body: { readonly text?: string; readonly assignee?: string } = {},
): Promise<boolean> {
  const result = await request(ACTIONS[action], { params: { team, id }, body });
  if (result.ok && result.data.note) notify('done', result.data.note);
  return report(result);
}
