/** The TypeScript types of tables, as in `store/tables.ts` and the `tables.ts` of features. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Pool } from '#store/postgres/pool.ts';

interface ColumnRow {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly is_null: boolean;
  readonly has_default: boolean;
  /** The values of a check that lists what the column may contain. */
  readonly values: readonly string[] | null;
}

/** Tables that statements name by Kysely's own types. */
const TABLES = [
  'agents',
  'approval_decisions',
  'approvals',
  'artifacts',
  'budget_accounts',
  'canvases',
  'channel_pairings',
  'channel_people',
  'channel_posts',
  'channels',
  'decision_proofs',
  'decision_tokens',
  'egress_requests',
  'exec_allowlist',
  'forgettings',
  'gate_checks',
  'handoff_routes',
  'messages',
  'node_invocations',
  'nodes',
  'schedule_runs',
  'schedules',
  'sessions',
  'team_comments',
  'team_members',
  'team_task_blockers',
  'team_task_events',
  'team_task_files',
  'team_tasks',
  'teams',
  'tool_calls',
  'turns',
  'webhook_deliveries',
  'webhooks',
];

const COLUMNS = `select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
    not a.attnotnull as is_null, a.atthasdef or a.attidentity <> '' as has_default,
    (select array_agg(x[1]) from pg_constraint k, regexp_matches(pg_get_constraintdef(k.oid), '''([^'']+)''::text', 'g') x
       where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
         and pg_get_constraintdef(k.oid) like '%= ANY (ARRAY[%') as values
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname = any ($1)
  order by c.relname, a.attnum`;

/** The types that `pg` returns and accepts. */
const TYPES: Readonly<Record<string, string>> = {
  text: 'string',
  uuid: 'string',
  tsvector: 'string',
  integer: 'number',
  'double precision': 'number',
  bigint: 'Int8',
  numeric: 'Numeric',
  boolean: 'boolean',
  bytea: 'Buffer',
  date: 'Timestamp',
  'timestamp with time zone': 'Timestamp',
  'text[]': 'string[]',
};

/** What the objects of these columns contain, or which words the columns may have; for others that is unknown. */
const SHAPES: Readonly<Record<string, readonly [type: string, file: string]>> = {
  'agents.config': ['AgentConfig', 'domain/agent'],
  'agents.rollout': ['Rollout', 'domain/rollout'],
  'approval_decisions.decision': ['Decision', 'domain/approval/approval'],
  'channel_posts.place': ['ChannelPlace', 'features/channels/contract'],
  'channels.settings': ['ChannelSettings', 'features/channels/schema'],
  'approvals.always': ['AlwaysOffer', 'domain/approval/approval'],
  'approvals.files': ['readonly BoundFile[]', 'domain/approval/bound-file'],
  'approvals.form': ['McpForm', 'domain/form'],
  'approvals.sandbox': ['SandboxTerms', 'domain/sandbox'],
  'approvals.terms': ['RecordedTerms', 'domain/approval/approval-terms'],
  'approvals.decision': ['Decision', 'domain/approval/approval'],
  'canvases.steps': ['readonly CanvasStep[]', 'features/canvas/contract'],
  'messages.context': ['MessageContext', 'domain/turn/turn'],
  'nodes.about': ['NodeAbout', 'features/nodes/contract/node'],
  'schedules.heartbeat': ['HeartbeatSettings', 'features/schedules/contract/heartbeat'],
  'schedules.rights': ['ScheduleRights', 'features/schedules/contract/schedule'],
  'schedules.timing': ['Timing', 'features/schedules/schema/schedule'],
  'sessions.bound_context': ['MessageContext', 'domain/turn/turn'],
  'sessions.budget_root': ['BudgetRoot', 'domain/budget/budget'],
  'team_task_events.notices': ['readonly LeadNotice[]', 'domain/team/team-task'],
  'team_task_events.status': ['TaskStatus', 'domain/team/team-task'],
  'team_tasks.origin_context': ['MessageContext', 'domain/turn/turn'],
  'team_tasks.state': ['TaskState', 'domain/team/team-task'],
  'team_tasks.status': ['TaskStatus', 'domain/team/team-task'],
  'tool_calls.hooks': ['readonly HookRun[]', 'domain/turn/hook'],
  'turns.context': ['MessageContext', 'domain/turn/turn'],
  'turns.ran_with': ['RanWith', 'domain/turn/ran-with'],
};

function typeOf({ table, column, type, is_null, has_default, values }: ColumnRow): string {
  const shape = SHAPES[`${table}.${column}`]?.[0];
  const known = values ? values.map((value) => `'${value}'`).join(' | ') : (shape ?? TYPES[type]);
  const plain = type === 'jsonb' ? `Json<${shape ?? 'unknown'}>` : known;
  if (plain === undefined) throw new Error(`${table}.${column} is of type ${type}: say here what that is`);
  const whole = is_null ? `${plain} | null` : plain;
  return has_default ? `Generated<${whole}>` : whole;
}

const COLUMN_TYPES = ['Generated', 'Int8', 'Json', 'Numeric', 'Timestamp'];

/** The folder whose migrations make each table: `store`, or that of a feature. */
function foldersOfTables(): ReadonlyMap<string, string> {
  const files = globSync(['store/migrations/*.sql', 'features/*/migrations/*.sql']);
  return new Map(
    files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^create table (\w+)/gm)].map(
        ([, table = '']) => [table, dirname(dirname(file))] as const,
      ),
    ),
  );
}

/** Types by the name of each file; not formatted. */
export async function typesOfTables(pool: Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<ColumnRow>(COLUMNS, [TABLES]);
  const folders = foldersOfTables();
  const files = Map.groupBy(rows, ({ table }) => join(folders.get(table) ?? 'store', 'tables.ts'));
  return new Map([...files].map(([file, columns]) => [file, textOf(file, columns)]));
}

function textOf(file: string, rows: readonly ColumnRow[]): string {
  const lines = [...Map.groupBy(rows, ({ table }) => table)].map(([table, columns]) => {
    const fields = columns.map((column) => `    ${column.column}: ${typeOf(column)};`);
    return `  ${table}: {\n${fields.join('\n')}\n  };`;
  });
  const body = lines.join('\n');
  const used = COLUMN_TYPES.filter((type) => new RegExp(`\\b${type}\\b`).test(body));
  const shapes = Map.groupBy(
    rows.flatMap(({ table, column }) => {
      const shape = SHAPES[`${table}.${column}`];
      return shape ? [shape] : [];
    }),
    ([, from]) => from,
  );
  const imports = [...shapes].map(([from, values]) => {
    const names = new Set(values.map(([type]) => type.replace(/^readonly |\[\]$/g, '')));
    return `import type { ${[...names].join(', ')} } from '#${from}.ts';`;
  });
  const isCore = file === 'store/tables.ts';
  return `/**
 * The tables of the ${isCore ? 'core' : 'feature'} for Kysely, generated from the schema by
 * \`TEST_WRITE=1 npm test -- test/store/tables.test.ts\` and checked by that test.
 */
import type { ${used.join(', ')} } from '#store/postgres/column-types.ts';
${imports.join('\n')}

${isCore ? `export interface Tables {\n${body}\n}` : `declare module '#store/tables.ts' {\ninterface Tables {\n${body}\n}\n}`}
`;
}
