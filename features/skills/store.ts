/**
 * Stores published skills: versions that never change, who may use them, and which are in use in a turn. Each change is
 * noted as one of the tenant's tools, whose version every step reads.
 */
import { Failure } from '#domain/errors.ts';
import { questionTerms, searchTerms } from '#domain/text/search-terms.ts';
import type { TreeFile } from '#domain/files/file-tree.ts';
import { treeDigest } from '#store/files/tree-digest.ts';
import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { SkillInUse } from '#domain/policy/skills-in-use.ts';
import type { SkillAccess, SkillFacts, SkillVisibility } from './rules/skill.ts';
import { noteChange } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTenantLock } from '#store/postgres/transaction.ts';
import type { Stored } from '#domain/schema/scalars.ts';
import type { skillGrantSchema, skillVersionSchema } from './schema.ts';

/** Skills of a tenant; all of them are in the memory of each worker that works for it. */
export const MAX_SKILLS = 1_000;
/** Versions of a skill. */
export const MAX_SKILL_VERSIONS = 200;
export const MAX_SKILL_GRANTS = 500;

export interface StoredSkillFile {
  readonly path: string;
  /** SHA-256. */
  readonly digest: string;
  readonly size: number;
}

export interface SkillVersionRow
  extends SkillFacts,
    Omit<Stored<typeof skillVersionSchema>, 'allowed_tools' | 'description'> {}

export interface SkillRow extends SkillVersionRow, SkillAccess {
  readonly owner: string | null;
}

export type SkillGrant = Stored<typeof skillGrantSchema>;

export interface SkillToPublish extends SkillFacts {
  readonly visibility: SkillVisibility;
  readonly files: readonly TreeFile[];
  readonly by: string;
  /** The newest version before this one; 0 when there is none. Undefined means any. */
  readonly expected?: number | undefined;
  /** The tool's call, and for whom it publishes. Without one, it is the API, which may publish every name. */
  readonly call?: { readonly id: string; readonly kind: SkillGrant['kind']; readonly subject: string };
  /** For a skill from elsewhere: its owner, and whether a person had agreed to it there. */
  readonly imported?: { readonly owner: string | null; readonly agreed: boolean };
}

const VERSION = sql`v.name, v.version, v.description, v.allowed, v.agreed, v.sha256, v.files, v.published_by,
  v.session_key, v.turn_id, v.call_id, v.created_at`;

const SKILL = sql`${VERSION}, s.visibility, s.owner, (select coalesce(jsonb_agg(jsonb_build_object('kind', g.kind, 'subject', g.subject)), '[]')
  from skill_grants g where g.tenant_id = s.tenant_id and g.name = s.name) as grants`;

const NEWEST = sql`skills s join skill_versions v on v.tenant_id = s.tenant_id and v.name = s.name and v.version = s.version`;

/** The newest version of each, by name. */
export function listSkills(db: TenantDb): Promise<SkillRow[]> {
  return readRows<SkillRow>(db)`select ${SKILL} from ${NEWEST}
    where s.tenant_id = ${db} and s.removed_at is null order by s.name limit ${MAX_SKILLS}`;
}

export function findSkill(db: TenantDb, name: string): Promise<SkillRow | undefined> {
  return readRow<SkillRow>(db)`select ${SKILL} from ${NEWEST}
    where s.tenant_id = ${db} and s.name = ${name} and s.removed_at is null`;
}

/** The newest first. */
export function listSkillVersions(db: TenantDb, name: string): Promise<SkillVersionRow[]> {
  return readRows<SkillVersionRow>(db)`select ${VERSION} from skill_versions v
    where v.tenant_id = ${db} and v.name = ${name} order by v.version desc`;
}

export function readSkillFiles(db: TenantDb, name: string, version: number): Promise<TreeFile[]> {
  return readRows<TreeFile>(db)`
    select f ->> 'path' as path, b.bytes from skill_versions v, jsonb_array_elements(v.files) f
      join files b on b.tenant_id = ${db} and b.digest = f ->> 'digest'
    where v.tenant_id = ${db} and v.name = ${name} and v.version = ${version} order by path`;
}

/**
 * Returns the version with these contents: the newest one when it has them, else a new one. `theirs` means that
 * another's tool has published the name. `full` means that the tenant has its maximum of skills, or the skill of
 * versions. Safe to repeat, also concurrently. @throws Failure Conflict when `expected` is not the newest version
 */
export function publishSkill(
  db: TenantDb,
  skill: SkillToPublish,
): Promise<{ readonly version: number; readonly isNew: boolean } | 'theirs' | 'full'> {
  const stored = skill.files.map(({ path, bytes }) => ({ path, digest: sha256(bytes), size: bytes.length }));
  const digest = treeDigest(skill.files);
  const owner = skill.call ? `${skill.call.kind}:${skill.call.subject}` : (skill.imported?.owner ?? null);
  return inTenantLock(db, async (tx) => {
    const isFull = await affects(tx)`
      select from skills where tenant_id = ${tx} and removed_at is null and name <> ${skill.name}
      having count(*) >= ${MAX_SKILLS}`;
    if (isFull) return 'full';
    await execute(tx)`insert into skills (tenant_id, name, visibility, owner, removed_at)
      values (${tx}, ${skill.name}, ${skill.visibility}, ${owner}, now()) on conflict do nothing`;
    const row = await readRow<{
      version: number;
      owner: string | null;
      is_there: boolean;
      sha256: string | null;
    }>(tx)`
      select s.version, s.owner, s.removed_at is null as is_there, (select sha256 from skill_versions v
        where v.tenant_id = s.tenant_id and v.name = s.name and v.version = s.version) as sha256
      from skills s where s.tenant_id = ${tx} and s.name = ${skill.name} for update`;
    if (!row) throw new Error('the row of a skill went while it was locked');
    if (row.is_there && skill.call && row.owner !== owner) return 'theirs';
    const isNew = row.sha256 !== digest;
    const version = isNew ? row.version + 1 : row.version;
    const newest = row.is_there ? row.version : 0;
    if (isNew && skill.expected !== undefined && skill.expected !== newest)
      throw new Failure(
        'Conflict',
        `The newest version of the skill is ${newest} now, not ${skill.expected}; read it again`,
      );
    if (version > MAX_SKILL_VERSIONS) return 'full';
    if (isNew) await insertVersion(tx, skill, version, { stored, digest });
    // A version without consent gets it when the same comes again with a person behind it.
    else
      await execute(tx)`update skill_versions set agreed = agreed or ${isAgreed(db.tenant, skill)}
        where tenant_id = ${tx} and name = ${skill.name} and version = ${version}`;
    if (skill.call) await insertGrant(tx, skill.name, { ...skill.call, by: skill.by });
    await execute(tx)`with saved as (
       update skills set version = ${version}, visibility = ${skill.visibility}, removed_at = null, updated_at = now(),
         owner = ${row.is_there ? row.owner : owner} where tenant_id = ${tx} and name = ${skill.name} returning name),
     ${noteChange(db.tenant, 'custom_tools', 'saved')} select from saved`;
    return { version, isNew };
  });
}

/** The API has a person behind it, and a call that needed approval runs only after somebody has allowed it. */
function isAgreed(tenant: string, { call, imported }: SkillToPublish): RawBuilder<unknown> {
  if (imported) return sql`${imported.agreed}::boolean`;
  return call === undefined
    ? sql`true`
    : sql`coalesce((select verdict = 'ask' from tool_calls where tenant_id = ${tenant} and id = ${call.id}), false)`;
}

async function insertVersion(
  tx: TenantTx,
  skill: SkillToPublish,
  version: number,
  { stored, digest }: { readonly stored: readonly StoredSkillFile[]; readonly digest: string },
): Promise<void> {
  const { name, description, allowed, files, by, call } = skill;
  await execute(tx)`insert into files (tenant_id, digest, bytes)
    select distinct on (f.digest) ${tx}, f.digest, f.bytes
    from unnest(${stored.map((file) => file.digest)}::text[], ${files.map(({ bytes }) => bytes)}::bytea[]) f (digest, bytes)
    on conflict (tenant_id, digest) do update set needed_at = now(), bytes = coalesce(files.bytes, excluded.bytes)`;
  await execute(tx)`
    insert into skill_versions (tenant_id, name, version, description, allowed, agreed, sha256, files, published_by,
      session_key, turn_id, call_id)
    select ${tx}, ${name}, ${version}, ${description}, ${allowed === null ? null : [...allowed]}::text[],
      ${isAgreed(tx.tenant, skill)}, ${digest}, ${JSON.stringify(stored)}, ${by},
      c.session_key, c.turn_id, c.id
    from (select) one left join tool_calls c on c.tenant_id = ${tx} and c.id = ${call?.id}`;
}

/** Returns false when there is none. */
export function removeSkill(db: TenantDb, name: string): Promise<boolean> {
  return affects(db)`with gone as (
     update skills set removed_at = now() where tenant_id = ${db} and name = ${name} and removed_at is null returning name),
   grants as (delete from skill_grants where tenant_id = ${db} and name = ${name}),
   ${noteChange(db.tenant, 'custom_tools', 'gone')}
   select from gone`;
}

export function listSkillGrants(db: TenantDb, name: string): Promise<SkillGrant[]> {
  return readRows<SkillGrant>(db)`select kind, subject, granted_by, created_at from skill_grants
    where tenant_id = ${db} and name = ${name} order by kind, subject`;
}

type Subject = Pick<SkillGrant, 'kind' | 'subject'>;

/** Returns undefined when it would exceed the limit. Safe to repeat. */
export function grantSkill(
  db: TenantDb,
  name: string,
  grant: Subject & { readonly by: string },
): Promise<SkillGrant | undefined> {
  return inTenantLock(db, async (tx) => {
    await insertGrant(tx, name, grant);
    await execute(tx)`
      with saved as (select 1), ${noteChange(db.tenant, 'custom_tools', 'saved')} select from saved`;
    return readRow<SkillGrant>(tx)`select kind, subject, granted_by, created_at from skill_grants
      where tenant_id = ${tx} and name = ${name} and kind = ${grant.kind} and subject = ${grant.subject}`;
  });
}

async function insertGrant(
  tx: TenantTx,
  name: string,
  { kind, subject, by }: Subject & { readonly by: string },
): Promise<void> {
  await execute(tx)`insert into skill_grants (tenant_id, name, kind, subject, granted_by)
    select ${tx}, ${name}, ${kind}, ${subject}, ${by}
    where (select count(*) from skill_grants where tenant_id = ${tx} and name = ${name}) < ${MAX_SKILL_GRANTS}
    on conflict do nothing`;
}

/** Returns false when there was none. */
export function revokeSkill(db: TenantDb, name: string, grant: Subject): Promise<boolean> {
  return affects(db)`with gone as (
     delete from skill_grants where tenant_id = ${db} and name = ${name} and kind = ${grant.kind} and subject = ${grant.subject}
     returning subject),
   ${noteChange(db.tenant, 'custom_tools', 'gone')}
   select from gone`;
}

/**
 * Notes that the call's turn uses it, for the calls of its next steps. Returns false when the turn has the maximum of
 * others. Safe to repeat.
 */
export async function noteSkill(
  db: TenantDb,
  call: string,
  { name, allowed, brings }: SkillInUse,
  max: number,
): Promise<boolean> {
  const known = JSON.stringify([{ name }]);
  const row = await readRow<{ noted: boolean }>(db)`
    with noted as (
      update turns t set skills = t.skills || jsonb_build_array(jsonb_build_object('name', ${name}::text,
          'allowed', ${allowed === null ? null : JSON.stringify(allowed)}::jsonb, 'brings', ${brings}::boolean, 'step', c.step))
        from tool_calls c where c.tenant_id = ${db} and c.id = ${call} and t.tenant_id = ${db} and t.id = c.turn_id
          and not t.skills @> ${known}::jsonb and jsonb_array_length(t.skills) < ${max}
        returning t.id)
    select exists (select from noted) or exists (select from turns t join tool_calls c on c.tenant_id = t.tenant_id and c.turn_id = t.id
      where c.tenant_id = ${db} and c.id = ${call} and t.skills @> ${known}::jsonb) as noted`;
  return row?.noted === true;
}

/** Ranks of the full-text search, 0 and more, in the order of the texts; any of the query's words counts. */
export async function rankTexts(pool: Pool, texts: readonly string[], query: string): Promise<number[]> {
  const { words, joined } = questionTerms(query);
  const requested = [...words, ...joined].join(' ');
  const rows = await readRows<{ rank: number }>(pool)`
    select ts_rank(to_tsvector('english', t.text), replace(plainto_tsquery('english', ${requested})::text, '&', '|')::tsquery) as rank
    from unnest(${texts.map(searchTerms)}::text[]) with ordinality t (text, at) order by t.at`;
  return rows.map(({ rank }) => rank);
}

function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
