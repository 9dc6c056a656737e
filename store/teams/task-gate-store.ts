/** What the gates of a team's task judge, and their feedback for its member (DE-6). */
import { gatesFor, type GateRun } from '#domain/gate/gate.ts';
import { workContext } from '#domain/assignment/new-assignment.ts';
import { type TeamContext, taskSessionKey } from '#domain/team/team.ts';
import type { GatedWork } from './gated-work.ts';
import { affects, readRow } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

/** Work that was submitted for a task, as long as it has to be judged. */
export async function findHandedIn(
  db: TenantDb,
  { owner_id, task }: GateRun,
): Promise<GatedWork | undefined> {
  const { team = '', number = 0 } = task ?? {};
  const found = await readRow<Omit<GatedWork, 'gates' | 'session'> & { readonly member: string }>(db)`
    select k.state #>> '{judging,member}' as member, r.config as agent, k.origin_context as context,
       (select id from turns where tenant_id = k.tenant_id and session_key = concat_ws(':', 'team', k.team_key,
         k.number, k.state #>> '{judging,member}') order by created_at desc limit 1) as turn,
       coalesce((k.origin_context #>> '{delegation,depth}')::int, 0) as depth,
       left('#' || k.number || ' ' || k.subject, 100) as label,
       concat_ws(E'\\n\\n', k.subject, nullif(k.description, '')) as task, coalesce(c.text, k.result, '') as output
     from team_tasks k
     join agent_revisions r on r.tenant_id = k.tenant_id and r.agent_key = k.state #>> '{judging,member}'
       and r.revision = (k.state #>> '{judging,agent_revision}')::int
     left join team_comments c on c.tenant_id = k.tenant_id and c.id = k.state #>> '{judging,text_id}'
       and c.team_key = k.team_key and c.number = k.number
     where k.tenant_id = ${db} and k.team_key = ${team} and k.number = ${number}
       and k.state #>> '{judging,of}' = ${owner_id}`;
  if (!found) return undefined;
  const { member, context, ...work } = found;
  const gates = gatesFor(work.agent.quality_gates, 'task.completed');
  const session = taskSessionKey(team, number, member);
  return { ...work, context: workContext(context), team, session, gates };
}

/** The last feedback of gates that returned work. */
export async function feedbackOf(db: TenantDb, team: string, number: number): Promise<string | undefined> {
  const row = await readRow<{ text: string }>(db)`
    select c.text from team_task_events e join team_comments c on c.tenant_id = e.tenant_id
      and c.team_key = e.team_key
       and c.number = e.number and c.revision = e.revision
     where e.tenant_id = ${db} and e.team_key = ${team} and e.number = ${number} and e.action = 'give_back'
       order by e.revision desc limit 1`;
  return row?.text;
}

/**
 * Whether the turn with this lease must answer with the task's result: it still has the lease, and has asked the user
 * nothing.
 */
export function awaitsAnswer(db: TenantDb, { key, number, fence }: TeamContext): Promise<boolean> {
  return affects(db)`
    select 1 from team_tasks where tenant_id = ${db} and team_key = ${key} and number = ${number}
       and state #> '{lease,fence}' = to_jsonb(${fence}::int) and coalesce(state -> 'question', 'null') = 'null'`;
}
