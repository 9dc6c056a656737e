/**
 * What the tool team_tasks and the HTTP API do with tasks: they write the text as a row first, then call the task's
 * workflow, which decides. The workflow is started when it does not run. A repeat with the same key has no further
 * effect.
 */
import { createHash } from 'node:crypto';
import { Failure } from '#domain/errors.ts';
import { taskIdOf, taskWorkflowId, TEAM_LIMITS, type Team } from '#domain/team/team.ts';
import {
  type CommentType,
  type TaskAction,
  type TaskActor,
  type TaskReceipt,
  type TaskRequest,
  type TaskText,
  TEAM_TASK,
  type TeamTaskInput,
} from '#domain/team/team-task.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { taskCreateSchema } from '#domain/schema/team-task.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import type { WorkflowReach, WorkflowStart } from '#domain/workflow-reach.ts';
import { type ScrubberOf, withoutSecrets } from '#store/secrets/scrubber.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { createTask } from '#store/teams/team-task-record.ts';
import * as tasks from '#store/teams/team-task-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { unlessUnavailable } from './unless-unavailable.ts';

export type TaskDraft = Omit<Kept<typeof taskCreateSchema>, 'blocked_by'> & {
  readonly blocked_by?: readonly number[] | undefined;
};

/** The creator of a task: a turn of the lead, which must end before members start, or a caller from outside. */
export interface TaskOrigin {
  readonly actor: string;
  readonly session?: string;
  readonly turn?: string;
  readonly context?: MessageContext;
  /** The session of ours whose text it has, besides `session`. */
  readonly writer?: string;
}

/** A request to a task, with its texts as they were written. */
export interface TaskWords {
  readonly text?: string | undefined;
  readonly type?: CommentType | undefined;
  readonly percent?: number | undefined;
  readonly assignee?: string | undefined;
  readonly subject?: string | undefined;
  readonly description?: string | undefined;
  readonly priority?: number | undefined;
  readonly blocked_by?: readonly number[] | undefined;
  readonly lease_seconds?: number | undefined;
  readonly file?: { readonly name: string; readonly bytes: Buffer } | undefined;
}

export interface TeamBoard {
  /** Creates the row; `begin` or the turn starts its workflow. `key` identifies this creation. @throws Failure */
  create(
    tenant: string,
    team: Team,
    draft: TaskDraft,
    origin: TaskOrigin,
    key: string,
  ): Promise<TeamTaskInput>;
  /** What Temporal does not accept now, the sweep starts. */
  begin(task: TeamTaskInput): Promise<void>;
  /**
   * Throws the workflow's refusals as Failures. A refused request leaves no row, unless the same request may be running
   * concurrently.
   */
  act(
    task: TeamTaskInput,
    action: TaskAction,
    by: TaskActor,
    words: TaskWords,
    once: { readonly key: string; readonly mayRunTwice: boolean },
  ): Promise<TaskReceipt>;
  /** The turn has ended: members may start on the tasks that it has created. Safe to repeat. */
  releaseTasks(tenant: string, turn: string): Promise<void>;
}

export interface TeamBoardDeps {
  readonly pool: Pool;
  readonly scrubberOf: ScrubberOf;
  readonly reach: Pick<WorkflowReach, 'updateWithStart' | 'signalWithStart'>;
}

const PREVIEW = 500;

/**
 * One by one, the first members would be done before the last start; all at once would block other users of Temporal.
 */
const RELEASES_AT_ONCE = 10;

export function createTeamBoard({ pool, scrubberOf, reach }: TeamBoardDeps): TeamBoard {
  return {
    async create(tenant, team, draft, origin, key) {
      const { assignee, blocked_by = [] } = draft;
      const scrubber = await scrubberOf(tenant);
      const created = await createTask(forTenant(pool, tenant), team.key, {
        subject: scrubber.text(draft.subject).slice(0, TEAM_LIMITS.subject).toWellFormed(),
        description: scrubber.text(draft.description ?? ''),
        priority: draft.priority ?? 0,
        blocked_by,
        require_approval: draft.require_approval ?? false,
        assignee,
        actor: origin.actor,
        create_key: key,
        origin_session: origin.session,
        origin_turn: origin.turn,
        context: origin.context,
        ...(origin.writer !== undefined && { writers: [origin.writer] }),
      });
      if (created.kind === 'missing') throw new Failure('NotFound', `there is no team "${team.key}"`);
      if (created.kind === 'refused') throw new Failure('InvalidInput', created.message);
      return { tenant, team: team.key, number: created.number };
    },

    begin: ({ tenant, team, number }) =>
      reach
        .signalWithStart(taskStart(tenant, team, number), TEAM_TASK.signals.released, {})
        .catch(unlessUnavailable),

    async act(task, action, by, words, { key, mayRunTwice }) {
      const { tenant, team, number } = task;
      const stem = digestOf(tenant, team, number, key);
      const request = await writeWords(pool, scrubberOf, task, by, words, stem);
      try {
        return await reach.updateWithStart<TaskReceipt>(
          taskStart(tenant, team, number),
          TEAM_TASK.updates[action],
          request,
          key,
        );
      } catch (error) {
        const isRefused = error instanceof Failure && error.type !== 'Unavailable';
        if (isRefused && !mayRunTwice) await tasks.deleteUntaken(forTenant(pool, tenant), idsOf(stem));
        throw error;
      }
    },

    async releaseTasks(tenant, turn) {
      const waiting = await tasks.tasksOfTurn(forTenant(pool, tenant), turn);
      const release = async (): Promise<void> => {
        for (let task = waiting.shift(); task; task = waiting.shift())
          await reach.signalWithStart(
            taskStart(tenant, task.team_key, task.number),
            TEAM_TASK.signals.released,
            {},
          );
      };
      await Promise.all(Array.from({ length: RELEASES_AT_ONCE }, release));
    },
  };
}

export function taskStart(tenant: string, team: string, number: number): WorkflowStart {
  const input: TeamTaskInput = { tenant, team, number };
  return {
    type: TEAM_TASK.type,
    id: taskWorkflowId(tenant, team, number),
    input,
    summary: `task ${taskIdOf(team, number)}`,
    tenant,
    team,
  };
}

/** Writes long texts as rows, so that the history contains only ids and previews. */
async function writeWords(
  pool: Pool,
  scrubberOf: ScrubberOf,
  { tenant, team, number }: TeamTaskInput,
  by: TaskActor,
  { text, description, file, subject, ...rest }: TaskWords,
  stem: string,
): Promise<TaskRequest> {
  const db = forTenant(pool, tenant);
  const key = [team, number] as const;
  const scrubber = await scrubberOf(tenant);
  const keep = async (id: string, text: string): Promise<TaskText> => {
    const shown = scrubber.text(text);
    await tasks.writeText(db, key, { id, author: by.name, text: shown });
    return { id, preview: scrubber.preview(shown, PREVIEW) };
  };
  const ids = idsOf(stem);
  const kept = text === undefined || text.trim() === '' ? undefined : await keep(ids.text, text);
  const description_id =
    description === undefined ? undefined : (await keep(ids.description, description)).id;
  const file_id = file && ids.file;
  if (file && file_id) {
    const bytes = withoutSecrets(scrubber, file.bytes);
    const digest = createHash('sha256').update(bytes).digest('hex');
    await tasks.writeFile(db, key, { id: file_id, author: by.name, digest, name: file.name, bytes });
  }
  const request = {
    by,
    ...rest,
    text: kept,
    description_id,
    file_id,
    subject: subject && scrubber.text(subject).slice(0, TEAM_LIMITS.subject).toWellFormed(),
  };
  return Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== undefined),
  ) as unknown as TaskRequest;
}

/** Ids of the rows that a request writes. */
function idsOf(stem: string): tasks.BroughtIds {
  return { text: `text_${stem}`, description: `text_${stem}.d`, file: `file_${stem}` };
}

function digestOf(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24);
}
