/** What the core must know about the rows of skills. */
import { sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  namesFile: sql`exists (select from skill_versions v where v.tenant_id = files.tenant_id
    and v.files @> jsonb_build_array(jsonb_build_object('digest', files.digest)))`,
  ofSession: ({ own, turns }) => [
    {
      change: sql`update skill_versions set session_key = null, turn_id = null, call_id = null
        where ${own} and turn_id in ${turns}`,
    },
  ],
  // Skills that were published for all stay, without the user's name.
  ofUser({ tenant, user }) {
    const published = sql`tenant_id = ${tenant} and name in
      (select name from skills where tenant_id = ${tenant} and owner = ${`user:${user}`})`;
    const theirs = sql`${published} and name in (select name from skills where tenant_id = ${tenant} and visibility = 'private')`;
    return {
      digests: sql`select f ->> 'digest' from skill_versions, jsonb_array_elements(files) f where ${theirs}`,
      before: [
        {
          table: 'skill_grants',
          where: sql`(tenant_id = ${tenant} and kind = 'user' and subject = ${user}) or (${theirs})`,
        },
        { table: 'skill_versions', where: theirs },
        { table: 'skills', where: theirs, counted: 'skills' },
        {
          change: sql`update skill_versions set published_by = 'a user who is forgotten' where ${published}`,
        },
        {
          change: sql`update skills set owner = null where tenant_id = ${tenant} and owner = ${`user:${user}`}`,
        },
      ],
    };
  },
};
