/** Settings of artifacts: where the bytes of large ones are. */
import { z } from 'zod';
import {
  absoluteStore,
  hasKeys,
  NEEDS_KEYS,
  s3Schema,
  storeSchema,
  withinWorkspaces,
} from '#config/object-store.ts';
import { defineSection } from '#config/section.ts';

const schema = z
  .strictObject({
    /** By default they are in Postgres. */
    store: storeSchema.exactOptional(),
    s3: s3Schema,
  })
  .refine(({ store, s3 }) => hasKeys(store, s3), NEEDS_KEYS)
  .prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly artifacts: z.output<typeof schema>;
  }
}

export const artifactsSettings = defineSection({
  name: 'artifacts',
  schema,
  variables: [
    [['TEMPOCLAW_ARTIFACTS_STORE'], 'artifacts.store', 'text'],
    [['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'], 'artifacts.s3.endpoint', 'text'],
    [['AWS_REGION', 'AWS_DEFAULT_REGION'], 'artifacts.s3.region', 'text'],
    [['AWS_ACCESS_KEY_ID'], 'artifacts.s3.accessKeyId', 'text'],
    [['AWS_SECRET_ACCESS_KEY'], 'artifacts.s3.secretAccessKey', 'text'],
  ],
  finish: ({ store, ...rest }, folder) =>
    store === undefined ? rest : { ...rest, store: absoluteStore(folder, store) },
  problems({ store }, { workspaces, workspaceRoot }) {
    if (store === undefined) return [];
    const problems = withinWorkspaces('artifacts.store', store, workspaceRoot);
    return store === workspaces.store
      ? [
          ...problems,
          `artifacts.store: ${store} is where snapshots of workspaces are kept; name another place`,
        ]
      : problems;
  },
  secrets: ({ s3 }) => [s3.secretAccessKey],
});
