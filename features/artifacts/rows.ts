/** What the core must know about the rows of artifacts. */
import { sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  namesFile: sql`exists (select from artifacts a where a.tenant_id = files.tenant_id and a.digest = files.digest)`,
  // The objects that these rows name stay too.
  moved: { staying: ['gone_objects'] },
  retained: [{ days: 'artifacts_days', table: 'artifacts', time: 'brought_at' }],
  // Those that messages of other sessions attach too stay.
  ofSession({ tenant, session, until }) {
    const attached = sql`select a ->> 'artifact' as id, a ->> 'digest' as digest from messages m, jsonb_array_elements(m.attachments) a
      where m.tenant_id = ${tenant} and m.session_key = ${session} and m.created_at <= ${until}`;
    return [
      {
        change: sql`update files set needed_at = '-infinity'
          where tenant_id = ${tenant} and digest in (select digest from (${attached}) a)`,
      },
      {
        table: 'artifacts',
        where: sql`tenant_id = ${tenant} and id in (select id from (${attached}) a)
          and not exists (select from messages o where o.tenant_id = ${tenant} and (o.session_key <> ${session} or o.created_at > ${until})
            and o.attachments @> jsonb_build_array(jsonb_build_object('artifact', artifacts.id)))`,
        counted: 'artifacts',
      },
    ];
  },
  ofUser: ({ own }) => ({
    digests: sql`select digest from artifacts where ${own}`,
    before: [{ table: 'artifacts', where: own, counted: 'artifacts' }],
  }),
};
