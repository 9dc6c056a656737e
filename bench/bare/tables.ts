/**
 * The bare side's two tables: a row for each message, in order, and a board with a row for each task, its holder and
 * its result.
 */
import type pg from 'pg';
import type { ChatMessage } from '#domain/turn/message.ts';
import type { BareTask } from './contract.ts';

export const BARE_TABLES = `
create table if not exists bare_messages (
  conversation text not null, step int not null, index int not null, message jsonb not null,
  primary key (conversation, step, index));
create table if not exists bare_tasks (
  task text primary key, team text not null, member text, status text not null, result text)`;

/** Every write is safe to repeat: the first message of a place stays. */
export interface BareTables {
  read(conversation: string): Promise<ChatMessage[]>;
  readOne(conversation: string, step: number): Promise<ChatMessage | undefined>;
  write(conversation: string, step: number, index: number, message: ChatMessage): Promise<void>;
  addTask(task: BareTask, team: string): Promise<void>;
  listTasks(team: string): Promise<string>;
  claimTask(task: string, member: string): Promise<void>;
  completeTask(task: string, result: string): Promise<void>;
}

export function createBareTables(pool: pg.Pool): BareTables {
  /** The statement is prepared once for each connection, under its own text. */
  const query = async <Row extends pg.QueryResultRow>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await pool.query<Row>({ name: text.slice(0, 63), text, values })).rows;
  interface Message {
    readonly message: ChatMessage;
  }
  return {
    async read(conversation) {
      const text = 'select message from bare_messages where conversation = $1 order by step, index';
      return (await query<Message>(text, conversation)).map((row) => row.message);
    },
    async readOne(conversation, step) {
      const text = 'select message from bare_messages where step = $2 and conversation = $1 and index = -1';
      return (await query<Message>(text, conversation, step))[0]?.message;
    },
    async write(conversation, step, index, message) {
      const text = 'insert into bare_messages values ($1, $2, $3, $4) on conflict do nothing';
      await query(text, conversation, step, index, JSON.stringify(message));
    },
    async addTask({ task, member }, team) {
      await query(
        `insert into bare_tasks values ($1, $2, $3, 'pending') on conflict do nothing`,
        task,
        team,
        member,
      );
    },
    async listTasks(team) {
      const text = 'select task, status from bare_tasks where team = $1 order by task limit 30';
      const rows = await query<{ task: string; status: string }>(text, team);
      return rows.map(({ task, status }) => `${task} ${status}`).join('\n') || 'No tasks.';
    },
    async claimTask(task, member) {
      await query(`update bare_tasks set member = $2, status = 'in_progress' where task = $1`, task, member);
    },
    async completeTask(task, result) {
      await query(`update bare_tasks set result = $2, status = 'completed' where task = $1`, task, result);
    },
  };
}
