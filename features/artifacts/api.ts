/** Provides what routes need of artifacts: large bytes, and the attachments of messages. */
import type { ApiCore } from '#api/api-parts.ts';
import { Failure } from '#domain/errors.ts';
import type { ApiPart } from '#domain/feature.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { openArtifacts } from './open-artifacts.ts';
import { type ArtifactPlaces, asAttachment, findArtifacts, putArtifact, readWhole } from './store.ts';

declare module '#api/deps.ts' {
  interface FeatureDeps {
    /** Where large artifacts are; undefined if they are in Postgres. */
    readonly artifactObjects: ArtifactPlaces['objects'];
  }
}

export function createApiPart({ config, pool, secrets }: ApiCore): ApiPart {
  const { objects } = openArtifacts(pool, config, secrets.vault.resolveSetting);
  return {
    deps: {
      artifactObjects: objects,
      async findAttachments(tenant, user, refs, pointer) {
        const ids = refs.map((ref) => ref.replace('artifact:', ''));
        const rows = await findArtifacts(forTenant(pool, tenant), ids, user);
        const known = new Map(rows.map((row) => [row.id, row]));
        return ids.map((artifact, index) => {
          const row = known.get(artifact);
          if (!row)
            throw new Failure(
              'Unprocessable',
              `There is no artifact:${artifact} that this message’s user may read`,
              pointer === undefined
                ? undefined
                : { errors: [{ pointer: `${pointer}/${index}`, message: 'no such artifact' }] },
            );
          return asAttachment(row);
        });
      },
      async keepAttachment(tenant, user, { bytes, type, name: filename }) {
        const { text: scrub } = await secrets.vault.scrubberOf(tenant);
        const hasSecret = (text: string): boolean => scrub(text) !== text;
        const file = { bytes, user, type, filename, hasSecret };
        return asAttachment(await putArtifact({ pool, objects }, tenant, file));
      },
      async readableFiles(tenant, user, ids) {
        const rows = await findArtifacts(forTenant(pool, tenant), ids, user);
        return ids.flatMap((id) => rows.filter((row) => row.id === id).map(asAttachment));
      },
      readFile: (tenant, file) => readWhole({ pool, objects }, tenant, file),
    },
  };
}
