/** DU-11: where the signed heads of chains are anchored, outside of the database. */
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { hasKeys, NEEDS_KEYS, s3Schema, storeSchema } from '#config/object-store.ts';
import { defineSection } from '#config/section.ts';
import { httpUrl } from '#domain/schema/scalars.ts';

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be a short word, such as archive');
const SECRET_URL = /^secret:\/\/[\w.-]+$/;

const anchorSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('file'), name, path: z.string().min(1).max(4_096) }),
  z.strictObject({
    type: z.literal('webhook'),
    name,
    url: z.union([httpUrl, z.string().regex(SECRET_URL)]),
  }),
  z
    .strictObject({
      type: z.literal('s3'),
      name,
      store: storeSchema.refine((store) => store.startsWith('s3://'), 'must be s3://bucket/prefix'),
      s3: s3Schema,
      /** How long the service keeps the objects from being deleted or replaced. */
      retainDays: z.int().min(1).max(36_500).default(365),
    })
    .refine(({ store, s3 }) => hasKeys(store, s3), NEEDS_KEYS),
]);

export type Anchor = z.output<typeof anchorSchema>;

const schema = z
  .strictObject({
    anchors: z
      .array(anchorSchema)
      .max(10)
      .refine((all) => new Set(all.map((one) => one.name)).size === all.length, 'must have different names')
      .default([]),
    /** Least time between two heads of a tenant that the same anchor gets. */
    anchorSeconds: z.number().min(0).max(86_400).default(60),
  })
  .prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly evidence: z.output<typeof schema>;
  }
}

export const evidenceSettings = defineSection({
  name: 'evidence',
  schema,
  finish: ({ anchors, ...rest }, folder) => ({
    ...rest,
    anchors: anchors.map((one) =>
      one.type === 'file' && !isAbsolute(one.path) ? { ...one, path: resolve(folder, one.path) } : one,
    ),
  }),
  problems: ({ anchors }, { workspaceRoot }) =>
    anchors.flatMap((one) =>
      one.type === 'file' && `${one.path}/`.startsWith(`${workspaceRoot}/`)
        ? [
            `evidence.anchors: ${one.path} lies within the workspaces, where commands of agents write; name another place`,
          ]
        : [],
    ),
  secrets: ({ anchors }) =>
    anchors.flatMap((one) =>
      one.type === 's3' ? [one.s3.secretAccessKey] : one.type === 'webhook' ? [one.url] : [],
    ),
});
