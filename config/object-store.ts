/** Settings that name a place of objects: a folder, or a bucket of an S3 service with its keys. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { httpUrl } from '#domain/schema/scalars.ts';

/** A folder that all processes share, or a bucket. */
export const storeSchema = z
  .string()
  .min(1)
  .max(4_096)
  .regex(
    /^(?!s3:)|^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[\w.-]+)*$/,
    'must be a folder or s3://bucket/prefix',
  );

export const s3Schema = z
  .strictObject({
    /** Without it, the endpoint of AWS in the region. */
    endpoint: httpUrl.exactOptional(),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,50}$/, 'must be a region such as eu-central-1')
      .default('us-east-1'),
    accessKeyId: z.string().min(1).max(1_024).exactOptional(),
    secretAccessKey: z.string().min(1).max(4_096).exactOptional(),
  })
  .prefault({});

export const hasKeys = (store: string | undefined, keys: z.output<typeof s3Schema>): boolean =>
  !store?.startsWith('s3:') || (keys.accessKeyId !== undefined && keys.secretAccessKey !== undefined);

export const NEEDS_KEYS = {
  path: ['s3'],
  error: 'needs accessKeyId and secretAccessKey (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) for a bucket',
};

/** True if an object store is a bucket's address, and false if it is a folder's path. */
export function isBucket(store: string): boolean {
  return store.startsWith('s3://');
}

export function absoluteStore(folder: string, store: string): string {
  return isBucket(store) ? store : resolve(folder, store);
}

/** The problem with a store that commands of agents can write to; empty when there is none. */
export function withinWorkspaces(setting: string, store: string, workspaceRoot: string): readonly string[] {
  return `${store}/`.startsWith(`${workspaceRoot}/`)
    ? [`${setting}: ${store} lies within the workspaces, where commands of agents write`]
    : [];
}
