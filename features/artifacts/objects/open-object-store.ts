/** The object store of the settings: a folder, or a bucket of an S3 service. */
import { resolveHost } from '@tempoclaw/egress/resolve-host';
import { createEgress } from '#activities/egress/create-egress.ts';
import { createFolderStore, type ObjectStore } from './object-store.ts';
import { createS3Store } from './s3-store.ts';

/** Greatest size of an answer of the service: four chunks of a workspace. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface StoreSettings {
  /** `s3://bucket/prefix`, or a folder. */
  readonly store: string;
  readonly s3: {
    readonly endpoint?: string;
    readonly region: string;
    readonly accessKeyId?: string;
    readonly secretAccessKey?: string;
  };
}

export function openObjectStore(
  { store, s3 }: StoreSettings,
  purpose: string,
  resolveSetting: (text: string) => Promise<string>,
): ObjectStore {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(store) ?? [];
  if (bucket === undefined) return createFolderStore(store);
  const { region, accessKeyId = '', secretAccessKey = '' } = s3;
  const endpoint = (s3.endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, '');
  const { hostname: host, port, protocol } = new URL(endpoint);
  // The operator's own service, whose address nobody else can choose. Its exchanges are not recorded as rows, because
  // they would outnumber all others.
  const egress = createEgress({ resolve: resolveHost, record: () => Promise.resolve() });
  const client = egress.open({
    labels: { tenant: '', purpose },
    rules: { internalHosts: [`${host}:${port || (protocol === 'https:' ? 443 : 80)}`] },
    limits: { redirects: 0, bytes: MAX_ANSWER_BYTES },
  });
  const settings = async () => ({
    endpoint,
    region,
    bucket,
    prefix,
    accessKeyId: await resolveSetting(accessKeyId),
    secretAccessKey: await resolveSetting(secretAccessKey),
  });
  return createS3Store(settings, client.fetch);
}
