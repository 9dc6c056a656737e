/** A row in each table in which a tenant has none. */
import type { Pool } from '#store/postgres/pool.ts';
import { plant, type TenantObjects } from '#test/support/tenant-objects.ts';
import type { MovedTable } from '../store/list-tables.ts';

/** The move itself fills it. */
const FILLED_LATER = new Set(['parked_sessions']);

/** A worker takes what is in them within moments. */
export const EMPTIED = new Set(['evidence_pending', 'evidence_removals']);

export async function plantEmptyTables(
  pool: Pool,
  tables: readonly MovedTable[],
  tenant: string,
  objects: TenantObjects,
): Promise<void> {
  const idIn = async (table: string): Promise<string> =>
    (await pool.query(`select id from ${table} where tenant_id = $1`, [tenant])).rows[0].id;
  const own = valuesOf(objects, await idIn('mcp_servers'), await idIn('webhooks'));
  const problems: string[] = [];
  for (const { name, tenant: key } of tables) {
    const { rows } = await pool.query(`select from ${name} where ${key} = $1 limit 1`, [tenant]);
    if (rows.length > 0 || FILLED_LATER.has(name) || EMPTIED.has(name)) continue;
    await plant(pool, name, { tenant_id: tenant, ...own[name] }).catch((error: unknown) => {
      problems.push(`${name}: ${String(error)}`);
    });
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** What checks and references of the tables need. */
function valuesOf(
  { approval, entities, key, task, tool }: TenantObjects,
  server: string,
  webhook: string,
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const document = { agent_key: 'quokka', user_id: 'ann', path: 'USER.md' };
  const number = Number(task.replace(/^.*\D/, ''));
  return {
    a2a_push_configs: { webhook_id: webhook },
    approval_decisions: { approval_id: approval, via: 'api' },
    budget_accounts: { measure: 'usd' },
    channel_posts: { delivery_id: 'whd_quokka' },
    console_links: { key_id: key },
    console_sessions: { key_id: key },
    custom_tool_env: { tool_id: tool },
    forks: { status: 'done' },
    gate_checks: { kind: 'passed', step: 'pass' },
    knowledge_merges: { id: 1_000_000, into_id: entities[1] },
    knowledge_parts: document,
    mcp_tools: { server_id: server, name: 'x', pinned: 'null' },
    memory_chunks: document,
    memory_vectors: document,
    model_uses: { kind: 'answer' },
    oidc_refreshes: { person_id: key },
    team_task_blockers: { team_key: 'quokka', number, blocker: number },
  };
}
