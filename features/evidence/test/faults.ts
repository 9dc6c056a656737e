/** What a superuser of the database may do to a ledger and its chain, as SQL. */
import type pg from 'pg';
import type { Chance } from '#test/support/seeded.ts';

/** Tables that a fault may change. */
const TABLES = [
  'tool_calls',
  'approvals',
  'approval_decisions',
  'policy_changes',
  'agent_revisions',
  'rollout_changes',
  'evidence_entries',
  'evidence_heads',
  'evidence_pending',
  'evidence_removals',
] as const;

/** Keeps copies of all tables, to which `restore` goes back. No trigger of a table runs for this superuser. */
export async function keepTables(superuser: pg.Client): Promise<{ restore(): Promise<void> }> {
  await superuser.query('set session_replication_role = replica; create schema kept');
  for (const table of TABLES) await superuser.query(`create table kept.${table} as table ${table}`);
  const identities = new Set(['policy_changes', 'evidence_pending', 'evidence_removals']);
  const restored = TABLES.map(
    (table) =>
      `delete from ${table}; insert into ${table} ${identities.has(table) ? 'overriding system value' : ''} table kept.${table};`,
  ).join('\n');
  return {
    async restore() {
      await superuser.query(`begin; ${restored} commit`);
    },
  };
}

const FINAL: Readonly<Record<string, string>> = {
  tool_calls: `state = 'done'`,
  approvals: `status <> 'pending'`,
  approval_decisions: 'true',
  policy_changes: 'true',
  agent_revisions: 'true',
  rollout_changes: 'true',
};

/** Edits of one row, by table. */
const EDITS: Readonly<Record<string, readonly string[]>> = {
  tool_calls: [
    `result = coalesce(result, '') || ' '`,
    `ok = not coalesce(ok, false)`,
    `args = args || '{"path":"elsewhere.md"}'`,
    `tool = tool || '_'`,
    `verdict = case verdict when 'allow' then 'ask' else 'allow' end`,
    `ended_at = ended_at - interval '1 microsecond'`,
    `session_key = session_key || 'x'`,
    `attempts = attempts + 1`,
  ],
  approvals: [
    `decided_by = 'somebody else'`,
    `status = case status when 'approved' then 'denied' else 'approved' end`,
    `decided_at = decided_at + interval '1 second'`,
    `args = '{}'`,
    `terms = terms || '{"quorum":9}'`,
    `note = coalesce(note, '') || '.'`,
  ],
  approval_decisions: [
    `decision = decision || '!'`,
    `by = 'somebody else'`,
    `person = 'bob'`,
    `via = 'temporal'`,
  ],
  policy_changes: [`after = '{}'`, `changed_by = 'bob'`, `before = '{"tools":{}}'`],
  agent_revisions: [`config = config || '{"model":"other/model"}'`, `created_by = 'bob'`],
  rollout_changes: [`share = share + 1`, `action = 'set'`, `changed_by = 'bob'`],
};

/** Edits of an entry. */
const ENTRY_EDITS = [
  `digest = sha256(digest)`,
  `hash = sha256(hash)`,
  `previous = sha256(previous)`,
  `salt = sha256(coalesce(salt, ''))`,
  `at = at - interval '1 hour'`,
  `kind = 'lost'`,
  `salt = null`,
  `salt = null, subject = null`,
  `subject = subject || 'x'`,
];

/** Swaps columns of two entries. */
const SWAPS = [
  ['kind', 'subject', 'part', 'digest', 'previous', 'hash', 'salt', 'content', 'at'],
  ['kind', 'subject', 'part', 'digest', 'salt', 'content', 'at'],
  ['subject', 'part', 'kind'],
  ['hash'],
] as const;

/** Does something to the tables. Resolves with what it was. */
export async function doHarm(superuser: pg.Client, chance: Chance): Promise<string> {
  const run = async (sql: string): Promise<string> => {
    const results = await superuser.query(sql);
    const changed = [results].flat().reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
    if (changed === 0) throw new Error(`nothing was changed by: ${sql}`);
    return sql;
  };
  const pick = <Value>(values: readonly Value[]): Value =>
    values[chance.between(0, values.length - 1)] as Value;
  const { rows } = await superuser.query<{ seq: string }>('select seq from evidence_entries order by seq');
  const seqs = rows.map(({ seq }) => Number(seq));
  const last = seqs.at(-1) ?? 0;
  const table = pick(Object.keys(EDITS));
  const one = `ctid = (select ctid from ${table} where ${FINAL[table]} order by md5(ctid::text || '${chance.between(1, 1e6)}') limit 1)`;
  const kinds = {
    edit: () => run(`update ${table} set ${pick(EDITS[table] ?? [])} where ${one}`),
    delete: () => run(`delete from ${table} where ${one}`),
    editEntry: () =>
      run(`update evidence_entries set ${pick(ENTRY_EDITS)} where seq = (select seq from evidence_entries
        where subject is not null order by md5(seq::text || '${chance.between(1, 1e6)}') limit 1)`),
    deleteEntry: () => run(`delete from evidence_entries where seq = ${pick(seqs)}`),
    closeGap: () => {
      const seq = chance.between(1, last - 1);
      return run(`delete from evidence_entries where seq = ${seq};
        update evidence_entries set seq = -seq where seq > ${seq};
        update evidence_entries set seq = -seq - 1 where seq < 0;
        update evidence_heads set seq = seq - 1`);
    },
    reorder: () => {
      const first = chance.between(1, last - 1);
      const other = chance.between(first + 1, last);
      const columns = pick(SWAPS);
      const set = columns.map((name) => `${name} = o.${name}`).join(', ');
      // The index of subjects allows none twice, not even for an instant.
      return run(`create temporary table swapped on commit drop as table evidence_entries;
        update evidence_entries e set subject = null where seq in (${first}, ${other}) and ${columns.includes('subject' as never)};
        update evidence_entries e set ${set} from swapped o
          where (e.seq = ${first} and o.seq = ${other}) or (e.seq = ${other} and o.seq = ${first})`);
    },
    truncate: () => run(`delete from evidence_entries where seq > ${chance.between(0, last - 1)}`),
    truncateWithHead: () => {
      const seq = chance.between(1, last - 1);
      return run(`delete from evidence_entries where seq > ${seq};
        update evidence_heads set seq = ${seq}, hash = (select hash from evidence_entries where seq = ${seq})`);
    },
    forgeEntry: () =>
      run(`insert into evidence_entries (tenant_id, seq, kind, subject, digest, previous, hash, salt, at)
        select tenant_id, seq + 1, kind, subject || 'x', digest, hash, sha256(convert_to(json_build_array(encode(hash, 'hex'), seq + 1,
          kind, encode(digest, 'hex'))::text, 'UTF8')), salt, at from evidence_entries where seq = ${last}`),
    insertRow: () =>
      run(`insert into tool_calls select (jsonb_populate_record(c, jsonb_build_object('id', c.id || 'x'))).* from tool_calls c
        where ${FINAL['tool_calls']} limit 1`),
    insertRowWithTrigger: async () => {
      await superuser.query('set session_replication_role = origin');
      const sql =
        await run(`insert into tool_calls select (jsonb_populate_record(c, jsonb_build_object('id', c.id || 'y'))).*
        from tool_calls c where ${FINAL['tool_calls']} limit 1`);
      await superuser.query('set session_replication_role = replica');
      return sql;
    },
    insertDecision: () =>
      run(`insert into approval_decisions (tenant_id, approval_id, key, decision, by, via)
        select tenant_id, approval_id, key || 'x', 'approve', 'ann', 'api' from approval_decisions limit 1`),
    removeChain: () => run('delete from evidence_entries; delete from evidence_heads'),
  };
  const kind = pick(Object.keys(kinds) as (keyof typeof kinds)[]);
  return `${kind}: ${await kinds[kind]()}`;
}
