/** Serves API keys of the caller's tenant, and tenants for the operator, from their rows. */
import manifest from '../../package.json' with { type: 'json' };
import {
  type ApiKeyRow,
  insertApiKey,
  insertTenant,
  listApiKeys,
  listTenants,
  revokeApiKey,
} from '#store/api-key-store.ts';
import { Failure, fieldFailure } from '#domain/errors.ts';
import { apiKeys, tenants } from '#domain/resource/api-keys.ts';
import { SCOPES, type Scope } from '#domain/schema/api-key.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import type { Db } from '#store/postgres/database.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import {
  hashSecret,
  makeKeyId,
  makeSecret,
  requireOperator,
  type RouteAuthenticator,
} from '../server/auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { readTextPage } from '../server/pages.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, deps: ApiDeps, authenticator: RouteAuthenticator): void {
  const { pool, settings } = deps;

  serveResource(app, apiKeys, {
    listApiKeys: ({ db, query }) =>
      readTextPage(query, 'id', (limit, after) => listApiKeys(db, limit, after), showKey),
    async createApiKey({ tenant, db, body: { expires_at: expiresAt, ...key } }) {
      if (expiresAt !== undefined && Date.parse(expiresAt) <= Date.now())
        throw fieldFailure('Unprocessable', 'body/expires_at', 'is in the past');
      if (key.scopes.includes('metrics') && tenant !== OPERATOR_TENANT)
        throw fieldFailure(
          'Unprocessable',
          'body/scopes',
          `metrics is a scope for keys of the tenant ${OPERATOR_TENANT}; a tenant's own figures are in /v1/usage`,
        );
      return makeKey(db, { ...key, expiresAt });
    },
    async revokeApiKey({ caller, db, params: { id } }) {
      if (id === caller.keyId)
        throw new Failure('Conflict', 'A key cannot revoke itself; use another admin key');
      const row = await revokeApiKey(db, id);
      authenticator.forget(id);
      return row !== undefined;
    },
    async getMe({ caller: { tenant, keyId: id, keyName: name, user, scopes } }) {
      const temporal_ui = settings.temporalUiUrl?.replace(/\/+$/, '');
      return { tenant, key: { id, name }, user, scopes: [...scopes], version: manifest.version, temporal_ui };
    },
  });

  serveResource(app, tenants, {
    listTenants({ tenant, query }) {
      requireOperator(tenant, 'Tenants are listed');
      return readTextPage(query, 'id', (limit, after) => listTenants(pool, limit, after));
    },
    async createTenant({ tenant: operator, body: { id, name = id } }) {
      requireOperator(operator, 'Tenants are made');
      // One commit: nobody could administer a tenant without a key, and its id would be taken.
      return inTransaction(pool, async (tx) => {
        const tenant = await insertTenant(tx, id, name);
        if (!tenant) throw new Failure('Conflict', `There is a tenant ${id} already`);
        const api_key = await makeKey(forTenant(tx, id), { name: 'admin', scopes: ['admin'] });
        return { ...tenant, api_key };
      });
    },
  });
}

async function makeKey(
  db: TenantDb<Db>,
  key: {
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly user?: string | undefined;
    readonly expiresAt?: string | undefined;
  },
) {
  const secret = makeSecret();
  const row = await insertApiKey(db, {
    id: makeKeyId(),
    name: key.name,
    user: key.user ?? null,
    hash: hashSecret(secret),
    scopes: [...new Set(key.scopes)],
    expiresAt: key.expiresAt ?? null,
  });
  return { ...showKey(row), secret };
}

function showKey(row: ApiKeyRow) {
  return { ...row, user: row.user_id, scopes: SCOPES.filter((scope) => row.scopes.includes(scope)) };
}
