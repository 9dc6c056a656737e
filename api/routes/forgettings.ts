/** Serves forgetting: a row says what to forget, and a workflow does it. */
import { randomUUID } from 'node:crypto';
import { Failure } from '#domain/errors.ts';
import { FORGETTING_KEEPS } from '#domain/forgetting.ts';
import type { Forgetting } from '#domain/schema/forgetting.ts';
import { forgettings } from '#domain/resource/forgettings.ts';
import {
  beginForgetting,
  findForgetting,
  type ForgettingRow,
  listForgettings,
} from '#store/forgetting-store.ts';
import { findRetention, saveRetention } from '#store/retention-store.ts';
import { isSessionKey } from '#domain/ids.ts';
import { findSession } from '#store/turns/session-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { forgettingStart } from '#temporal/forgetting-start.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { readCreatedPage } from '../server/pages.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, { pool, temporal }: ApiDeps): void {
  async function forget(tenant: string, by: string, kind: Forgetting['kind'], subject: string) {
    const row = await beginForgetting(forTenant(pool, tenant), {
      id: `fgt_${randomUUID()}`,
      kind,
      subject,
      requested_by: by,
    });
    await temporal.start(forgettingStart(tenant, row.id));
    return showForgetting(row);
  }

  serveResource(app, forgettings, {
    listForgettings: ({ db, query }) =>
      readCreatedPage(query, (limit, after) => listForgettings(db, limit, after), showForgetting),
    async getForgetting({ db, params }) {
      const row = await findForgetting(db, params.id);
      return row && showForgetting(row);
    },
    async forgetSession({ tenant, db, by, params: { session } }) {
      if (!isSessionKey(session) || !(await findSession(db, session)))
        throw new Failure('NotFound', 'There is no session with this key');
      return forget(tenant, by, 'session', session);
    },
    getRetention: async ({ db }) => (await findRetention(db)) ?? {},
    async setRetention({ db, body }) {
      await saveRetention(db, body);
      return body;
    },
    forgetUser: ({ tenant, by, params: { user } }) => forget(tenant, by, 'user', user),
  });
}

function showForgetting(row: ForgettingRow) {
  return {
    ...row,
    status: row.ended_at ? ('done' as const) : ('running' as const),
    stays: FORGETTING_KEEPS[row.kind],
  };
}
