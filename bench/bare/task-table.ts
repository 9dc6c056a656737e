/** The bare board: a row a task, with who has it and what came of it. */
import type pg from 'pg';
import type { BareTask } from './contract.ts';

export const TASK_TABLE = `create table if not exists bare_tasks (
  task text primary key, team text not null, member text, status text not null, result text)`;

export interface TaskTable {
  /** Runs again safely, as the others do. */
  add(task: BareTask, team: string): Promise<void>;
  list(team: string): Promise<string>;
  claim(task: string, member: string): Promise<void>;
  complete(task: string, result: string): Promise<void>;
}

export function createTaskTable(pool: pg.Pool): TaskTable {
  return {
    async add({ task, member }, team) {
      await pool.query({
        name: 'bare_task_add',
        text: `insert into bare_tasks values ($1, $2, $3, 'pending') on conflict do nothing`,
        values: [task, team, member],
      });
    },
    async list(team) {
      const { rows } = await pool.query<{ task: string; status: string }>({
        name: 'bare_task_list',
        text: 'select task, status from bare_tasks where team = $1 order by task limit 30',
        values: [team],
      });
      return rows.map(({ task, status }) => `${task} ${status}`).join('\n') || 'No tasks.';
    },
    async claim(task, member) {
      await pool.query({
        name: 'bare_task_claim',
        text: `update bare_tasks set status = 'in_progress', member = $2 where task = $1`,
        values: [task, member],
      });
    },
    async complete(task, result) {
      await pool.query({
        name: 'bare_task_complete',
        text: `update bare_tasks set status = 'completed', result = $2 where task = $1`,
        values: [task, result],
      });
    },
  };
}
