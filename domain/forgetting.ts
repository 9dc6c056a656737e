/** Forgetting a session, or all of one user: rows, Temporal runs and files go, and a receipt says what went. */
import type { forgettingSchema, retentionSchema } from './schema/forgetting.ts';
import type { Kept } from './schema/scalars.ts';

/** The workflow's type. */
export const FORGET = 'forget';

/** In whose name it stops what runs. */
export const FORGET_BY = 'forgetting';

/** Ids only: whom it is about stands in the row, and in no history. */
export interface ForgetInput {
  readonly tenant: string;
  readonly id: string;
}

export const FORGET_SUBJECTS = ['session', 'user'] as const;

const STAYS = [
  'tasks on the boards of teams',
  'what others were told: in their sessions, in these sessions’ runs in Temporal, in documents and workspaces that they share',
  'copies of workspaces on the disks of workers that have not used them since',
  'logs and backups, and sums of what models have cost',
] as const;

/** What a forgetting does not reach, as its receipt says. */
export const FORGETTING_LEAVES: Readonly<Record<(typeof FORGET_SUBJECTS)[number], readonly string[]>> = {
  session: STAYS,
  user: [
    ...STAYS,
    'skills that he has published for all, without his name',
    'his name on decisions about the calls of others and on what he has made for all',
  ],
};

export type Forgetting = Kept<typeof forgettingSchema>;

/** Each is safe to repeat, goes on where it was ended, and counts in the receipt what it has removed. */
export interface ForgetActivities {
  /** Ends what runs in the sessions, and comes back when nothing does. */
  stop_forgotten(input: ForgetInput): Promise<void>;
  /** Temporal's runs of the sessions: before the rows, which say what they were. */
  forget_runs(input: ForgetInput): Promise<void>;
  /** Rows last; the receipt is closed with the last of them. */
  forget_rows(input: ForgetInput): Promise<Forgetting['removed']>;
}

export function forgetWorkflowId(id: string): string {
  return `forget/${id}`;
}

/** Of a tenant, or of the settings where the tenant says nothing. */
export type Retention = Kept<typeof retentionSchema>;
