/** Serves published skills from their rows. */
import { Failure, limitReached } from '#domain/errors.ts';
import { skills } from './resource.ts';
import { readPublished } from './policy/read-published.ts';
import {
  findSkill,
  grantSkill,
  listSkillGrants,
  listSkills,
  listSkillVersions,
  MAX_SKILL_GRANTS,
  publishSkill,
  readSkillFiles,
  removeSkill,
  revokeSkill,
  type SkillRow,
  type SkillVersionRow,
} from './store.ts';
import { type Caller, userOf } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { requireAgents } from '#api/require-agents.ts';
import { serveResource } from '#api/serve-resource.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export function addRoutes(app: Api, { pool, secrets }: ApiDeps): void {
  const find = async (caller: Caller, name: string): Promise<SkillRow | undefined> => {
    const row = await findSkill(forTenant(pool, caller.tenant), name);
    return row && isShown(row, caller) ? row : undefined;
  };

  serveResource(
    app,
    skills,
    {
      async listSkills({ caller, db }) {
        const rows = await listSkills(db);
        return { data: rows.filter((row) => isShown(row, caller)).map(show) };
      },
      async getSkill({ caller, params }) {
        const row = await find(caller, params.name);
        return row && show(row);
      },
      async publishSkill({ tenant, db, by, params: { name }, body }) {
        const files = body.files.map(({ path, content }) => ({
          path,
          bytes: Buffer.from(content, 'base64'),
        }));
        const { text } = await secrets.vault.scrubberOf(tenant);
        const read = readPublished(name, files, (value) => text(value) !== value);
        if (!read.ok) throw new Failure('Unprocessable', read.problem);
        const done = await publishSkill(db, {
          ...read.skill,
          visibility: body.visibility,
          expected: body.version,
          files,
          by,
        });
        if (typeof done === 'string')
          throw new Failure('Unprocessable', 'There are as many skills, or versions of this one, as may be');
        const row = await findSkill(db, read.skill.name);
        return row && { ...show(row), is_new: done.isNew };
      },
      async readSkillFolder({ caller, db, params }) {
        const row = await find(caller, params.name);
        if (!row) return undefined;
        const files = await readSkillFiles(db, row.name, row.version);
        const shown = files.map((file) => ({ path: file.path, content: file.bytes.toString('base64') }));
        return { version: row.version, visibility: row.visibility, files: shown };
      },
      async listSkillVersions({ db, params }) {
        return { data: (await listSkillVersions(db, params.name)).map(show) };
      },
      deleteSkill: ({ db, params }) => removeSkill(db, params.name),
      async listSkillGrants({ db, params }) {
        return { data: await listSkillGrants(db, params.name) };
      },
      async grantSkill({ db, by, params: { name, ...grant } }) {
        if (grant.kind === 'agent') await requireAgents(db, [['path/subject', grant.subject]]);
        const row = await grantSkill(db, name, { ...grant, by });
        if (!row) throw limitReached(MAX_SKILL_GRANTS, `grants of ${name}`);
        return row;
      },
      revokeSkill: ({ db, params: { name, ...grant } }) => revokeSkill(db, name, grant),
    },
    find,
  );
}

/** Keys of a user see what the user's agents may find. */
function isShown({ visibility, grants }: SkillRow, caller: Caller): boolean {
  const user = userOf(caller, undefined);
  if (user === undefined || visibility === 'public') return true;
  return grants.some(({ kind, subject }) => kind === 'user' && subject === user);
}

function show<Row extends SkillVersionRow>(row: Row) {
  return { ...row, allowed_tools: row.allowed };
}
