/**
 * Forgetting a session or all data of one user: rows, Temporal runs and files are removed, and a receipt lists what was
 * removed.
 */

/** The type of the workflow. */
export const FORGET = 'forget';

/** The name under which it stops running work. */
export const FORGET_BY = 'forgetting';

/** Contains only ids: the row names the user, and no history does. */
export interface ForgetInput {
  readonly tenant: string;
  readonly id: string;
}

export const FORGET_SUBJECTS = ['session', 'user'] as const;

const STAYS = [
  'tasks on the boards of teams',
  'what others were told: in their sessions, in these sessions’ runs in Temporal, in documents and workspaces that they share',
  'copies of workspaces on the disks of workers that have not used them since',
  'files on other machines',
  'logs and backups, and sums of what models have cost',
  'digests in the chain of evidence, without the salts that they were made with',
  'this receipt',
] as const;

/** What a forgetting does not remove, as its receipt says. */
export const FORGETTING_KEEPS: Readonly<Record<(typeof FORGET_SUBJECTS)[number], readonly string[]>> = {
  session: [...STAYS, 'forks of the session'],
  user: [
    ...STAYS,
    'skills that he has published for all, without his name',
    'his name on decisions about the calls of others and on what he has made for all',
  ],
};

/** The number of things removed, by kind. */
export type Removed = Readonly<Record<string, number>>;

/** Each is safe to repeat, continues where it was interrupted, and adds what it has removed to the receipt. */
export interface ForgetActivities {
  /** Stops what runs in the sessions, and returns when nothing runs. */
  stop_forgotten(input: ForgetInput): Promise<void>;
  /** Removes the sessions' runs in Temporal. It runs before the rows are removed, because they list the runs. */
  forget_runs(input: ForgetInput): Promise<void>;
  /** Removes the rows last, and closes the receipt in the same transaction as the last of them. */
  forget_rows(input: ForgetInput): Promise<Removed>;
}

export function forgetWorkflowId(id: string): string {
  return `forget/${id}`;
}
