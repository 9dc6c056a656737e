/** API keys of the caller's tenant, and tenants for the operator. */
import { z } from 'zod';
import {
  type ApiKeyRow,
  insertApiKey,
  insertTenant,
  listApiKeys,
  listTenants,
  revokeApiKey,
  type TenantRow,
} from '#store/api-key-store.ts';
import { Failure } from '#domain/errors.ts';
import {
  apiKeyCreateSchema,
  apiKeySchema,
  newApiKeySchema,
  newTenantSchema,
  SCOPES,
  type Scope,
  tenantCreateSchema,
  tenantSchema,
} from '#domain/schema/api-key.ts';
import { pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { type Authenticator, type Caller, callerOf, hashSecret, makeKeyId, makeSecret } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { isTextKey, readPage } from '../pages.ts';

/** Whose admins run the deployment: they alone make tenants. */
export const OPERATOR_TENANT = 'default';

export function addApiKeyRoutes(app: Api, deps: ApiDeps, authenticator: Authenticator): void {
  addKeyRoutes(app, deps, authenticator);
  addTenantRoutes(app, deps);
}

function addKeyRoutes(app: Api, deps: ApiDeps, authenticator: Authenticator): void {
  app.get(
    '/v1/api-keys',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['keys'],
        operationId: 'listApiKeys',
        summary: 'List the tenant’s API keys',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(apiKeySchema), ...problems() },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      return readPage(
        request.query,
        (limit, after) => listApiKeys(deps.pool, tenant, limit, String(after?.[0] ?? '')),
        (row) => [row.id],
        showKey,
        isTextKey,
      );
    },
  );

  app.post(
    '/v1/api-keys',
    {
      config: { scope: 'admin', shownOnce: ['secret'] },
      schema: {
        tags: ['keys'],
        operationId: 'createApiKey',
        summary: 'Make an API key',
        description: 'The secret is in this answer and nowhere else: only its hash is kept.',
        body: apiKeyCreateSchema,
        response: {
          201: newApiKeySchema,
          ...problems('Unprocessable'),
        },
      },
    },
    async (request, reply) => {
      const { name, scopes, user, expires_at } = request.body;
      if (expires_at !== undefined && Date.parse(expires_at) <= Date.now())
        throw new Failure('Unprocessable', 'expires_at is in the past');
      const made = await makeKey(deps, callerOf(request).tenant, {
        name,
        scopes,
        user,
        expiresAt: expires_at,
      });
      return reply.code(201).send(made);
    },
  );

  app.delete(
    '/v1/api-keys/:id',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['keys'],
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'Other API processes may take it for 10 seconds more.',
        params: z.object({ id: z.string() }),
        response: { 204: z.null(), ...problems('NotFound', 'Conflict') },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { id } = request.params;
      if (id === caller.keyId)
        throw new Failure('Conflict', 'A key cannot revoke itself; use another admin key');
      const row = /^\w{1,64}$/.test(id) ? await revokeApiKey(deps.pool, caller.tenant, id) : undefined;
      if (!row) throw new Failure('NotFound', 'There is no API key with this id');
      authenticator.forget(id);
      return reply.code(204).send(null);
    },
  );
}

function addTenantRoutes(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/tenants',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['keys'],
        operationId: 'listTenants',
        summary: 'List tenants (operator)',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(tenantSchema), ...problems() },
      },
    },
    async (request) => {
      requireOperator(callerOf(request));
      return readPage(
        request.query,
        (limit, after) => listTenants(deps.pool, limit, String(after?.[0] ?? '')),
        (row) => [row.id],
        showTenant,
        isTextKey,
      );
    },
  );

  app.post(
    '/v1/tenants',
    {
      config: { scope: 'admin', shownOnce: ['secret'] },
      schema: {
        tags: ['keys'],
        operationId: 'createTenant',
        summary: 'Make a tenant and its first admin key (operator)',
        body: tenantCreateSchema,
        response: {
          201: newTenantSchema,
          ...problems('Conflict'),
        },
      },
    },
    async (request, reply) => {
      requireOperator(callerOf(request));
      const { id, name } = request.body;
      const tenant = await insertTenant(deps.pool, id, name ?? id);
      if (!tenant) throw new Failure('Conflict', `There is a tenant ${id} already`);
      const api_key = await makeKey(deps, id, { name: 'admin', scopes: ['admin'] });
      return reply.code(201).send({ ...showTenant(tenant), api_key });
    },
  );
}

function requireOperator(caller: Caller): void {
  if (caller.tenant !== OPERATOR_TENANT)
    throw new Failure('Forbidden', `Tenants are made by admins of the tenant ${OPERATOR_TENANT}`);
}

async function makeKey(
  deps: ApiDeps,
  tenant: string,
  key: {
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly user?: string | undefined;
    readonly expiresAt?: string | undefined;
  },
): Promise<z.infer<typeof newApiKeySchema>> {
  const secret = makeSecret();
  const row = await insertApiKey(deps.pool, tenant, {
    id: makeKeyId(),
    name: key.name,
    user: key.user ?? null,
    hash: hashSecret(secret),
    scopes: [...new Set(key.scopes)],
    expiresAt: key.expiresAt ?? null,
  });
  return { ...showKey(row), secret };
}

function showKey(row: ApiKeyRow): z.infer<typeof apiKeySchema> {
  return {
    id: row.id,
    name: row.name,
    user: row.user_id,
    scopes: SCOPES.filter((scope) => row.scopes.includes(scope)),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

function showTenant(row: TenantRow): z.infer<typeof tenantSchema> {
  return { id: row.id, name: row.name, created_at: row.created_at.toISOString() };
}
