/** Secrets of the caller's tenant: set, listed by name, removed; never read. */
import { z } from 'zod';
import { resealRows } from '#store/key-rotation.ts';
import {
  deleteSecret,
  listSecrets,
  MAX_SECRETS,
  putSecret,
  secretPlace,
  type SecretRow,
} from '#store/secret-store.ts';
import { Failure } from '#domain/errors.ts';
import { isName } from '#domain/ids.ts';
import { pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { rotationSchema, secretNameSchema, secretPutSchema, secretSchema } from '#domain/schema/secret.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { isTextKey, readPage } from '../pages.ts';
import { OPERATOR_TENANT } from './api-keys.ts';

export function addSecretRoutes(app: Api, deps: ApiDeps): void {
  addList(app, deps);
  addPut(app, deps);
  addDelete(app, deps);
  addRotate(app, deps);
}

function addList(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/secrets',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['secrets'],
        operationId: 'listSecrets',
        summary: 'List the names of secrets',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(secretSchema), ...problems() },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      return readPage(
        request.query,
        (limit, after) => listSecrets(deps.pool, tenant, limit, String(after?.[0] ?? '')),
        (row) => [row.name],
        showSecret,
        isTextKey,
      );
    },
  );
}

function addPut(app: Api, deps: ApiDeps): void {
  app.put(
    '/v1/secrets/:name',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['secrets'],
        operationId: 'setSecret',
        summary: 'Set a secret',
        description:
          'Settings refer to it as `secret://NAME`. The value is sealed, hidden wherever it would be shown, and given back by no route.',
        params: z.object({ name: secretNameSchema }),
        body: secretPutSchema,
        response: { 200: secretSchema, ...problems('Unprocessable') },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { tenant } = caller;
      const { name } = request.params;
      const { sealer } = deps.secrets;
      const row = await putSecret(deps.pool, tenant, {
        name,
        sealed: sealer.seal(request.body.value, secretPlace(tenant, name)),
        keyId: sealer.keyId,
        by: signatureOf(caller),
      });
      if (!row)
        throw new Failure('Unprocessable', `There are ${MAX_SECRETS} secrets, which is the most; delete one`);
      return showSecret(row);
    },
  );
}

function addDelete(app: Api, deps: ApiDeps): void {
  app.delete(
    '/v1/secrets/:name',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['secrets'],
        operationId: 'deleteSecret',
        summary: 'Delete a secret',
        params: z.object({ name: z.string() }),
        response: { 204: z.null(), ...problems('NotFound') },
      },
    },
    async (request, reply) => {
      const { name } = request.params;
      const gone = isName(name) && (await deleteSecret(deps.pool, callerOf(request).tenant, name));
      if (!gone) throw new Failure('NotFound', 'There is no secret with this name');
      return reply.code(204).send(null);
    },
  );
}

function addRotate(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/secrets/rotate',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['secrets'],
        operationId: 'rotateSecrets',
        summary: 'Seal all secrets with the newest master key (operator)',
        description:
          'After `encryption.key` was changed and the old one put into `encryption.previousKeys`. Once it is done, the old key is needed for calls that were open then only.',
        response: { 200: rotationSchema, ...problems() },
      },
    },
    async (request) => {
      if (callerOf(request).tenant !== OPERATOR_TENANT)
        throw new Failure('Forbidden', `Keys are rotated by admins of the tenant ${OPERATOR_TENANT}`);
      const { sealer } = deps.secrets;
      const resealed = await resealRows(deps.pool, sealer.keyId, (sealed, place) =>
        sealer.seal(sealer.open(sealed, place), place),
      );
      return { key_id: sealer.keyId, resealed };
    },
  );
}

function showSecret(row: SecretRow): z.infer<typeof secretSchema> {
  return {
    name: row.name,
    updated_by: row.updated_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
