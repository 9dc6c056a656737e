/** Serves secrets from their sealed rows. */
import { resealRows } from '#store/key-rotation.ts';
import { deleteSecret, listSecrets, MAX_SECRETS, putSecret, secretPlace } from '#store/secret-store.ts';
import { limitReached } from '#domain/errors.ts';
import { isName } from '#domain/ids.ts';
import { secrets } from '#domain/resource/secrets.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { readTextPage } from '../server/pages.ts';
import { serveResource } from '../serve-resource.ts';
import { requireOperator } from '../server/auth.ts';

export function addRoutes(app: Api, { pool, rows, secrets: { sealer, changes } }: ApiDeps): void {
  serveResource(app, secrets, {
    listSecrets: ({ db, query }) =>
      readTextPage(query, 'name', (limit, after) => listSecrets(db, limit, after)),
    async setSecret({ tenant, db, by, params: { name }, body }) {
      const sealed = sealer.seal(body.value, secretPlace(tenant, name));
      const row = await putSecret(db, { name, sealed, keyId: sealer.keyId, by });
      if (!row) throw limitReached(MAX_SECRETS, 'secrets');
      // A caller that has this answer may rely on the next text being scrubbed of the secret.
      changes.notify('secrets', tenant);
      return row;
    },
    deleteSecret: async ({ db, params: { name } }) => isName(name) && (await deleteSecret(db, name)),
    async rotateSecrets({ tenant }) {
      requireOperator(tenant, 'Encryption keys are rotated');
      const resealed = await resealRows(pool, rows, sealer.keyId, (sealed, place) =>
        sealer.seal(sealer.open(sealed, place), place),
      );
      return { key_id: sealer.keyId, resealed };
    },
  });
}
