/**
 * Where heads are anchored. To anchor the same head again changes nothing that a verifier reads. Each takes some seconds
 * at most, and rejects with what is wrong.
 */
import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { resolveHost } from '@tempoclaw/egress/resolve-host';
import { S3mini } from 's3mini';
import { createEgress } from '#activities/egress/create-egress.ts';
import type { Head } from './chain.ts';
import type { Anchor } from './settings.ts';

export interface OpenAnchor {
  readonly name: string;
  /** Resolves when it is durable. */
  put(head: Head): Promise<void>;
}

type ResolveSetting = (text: string) => Promise<string>;

/** Bytes of an answer that are read, and milliseconds. */
const LIMITS = { redirects: 0, bytes: 65_536, totalMs: 15_000, idleMs: 15_000 };
const DAY_MS = 86_400_000;

export function openAnchors(anchors: readonly Anchor[], resolve: ResolveSetting): readonly OpenAnchor[] {
  return anchors.map((anchor) => ({
    name: anchor.name,
    put: (head) =>
      anchor.type === 'file'
        ? appendLine(anchor.path, head)
        : anchor.type === 'webhook'
          ? post(anchor, head, resolve)
          : putObject(anchor, head, resolve),
  }));
}

/** A line that a crash has cut stays alone, because each begins on a new one. */
async function appendLine(path: string, head: Head): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a', 0o600);
  try {
    await file.write(`\n${JSON.stringify(head)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** An address of the operator’s, which nobody else can choose. */
function fetchFrom(address: string): typeof globalThis.fetch {
  const { hostname, port, protocol } = new URL(address);
  const host = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  return createEgress({ resolve: resolveHost, record: () => Promise.resolve() }).open({
    labels: { tenant: '', purpose: 'evidence' },
    rules: { internalHosts: [host] },
    limits: LIMITS,
  }).fetch;
}

async function post(
  { name, url }: Extract<Anchor, { readonly type: 'webhook' }>,
  head: Head,
  resolve: ResolveSetting,
): Promise<void> {
  const address = await resolve(url);
  const answer = await fetchFrom(address)(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'evidence.head', data: head }),
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`the webhook ${name} answered ${answer.status}`);
}

/** The key ends with the hash, so that another head of the same number is another object. */
async function putObject(
  { store, s3, retainDays }: Extract<Anchor, { readonly type: 's3' }>,
  head: Head,
  resolve: ResolveSetting,
): Promise<void> {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(store) ?? [];
  const endpoint = (s3.endpoint ?? `https://s3.${s3.region}.amazonaws.com`).replace(/\/+$/, '');
  const client = new S3mini({
    endpoint: `${endpoint}/${bucket}`,
    region: s3.region,
    accessKeyId: await resolve(s3.accessKeyId ?? ''),
    secretAccessKey: await resolve(s3.secretAccessKey ?? ''),
    fetch: fetchFrom(endpoint),
  });
  const body = Buffer.from(`${JSON.stringify(head)}\n`);
  const number = String(head.seq).padStart(12, '0');
  const key = `${prefix === '' ? '' : `${prefix}/`}${head.tenant}/${number}-${head.hash.slice(0, 16)}.json`;
  const answer = await client.putObject(key, body, 'application/json', undefined, {
    // A lock needs a checksum of the body.
    'x-amz-checksum-sha256': createHash('sha256').update(body).digest('base64'),
    'x-amz-object-lock-mode': 'COMPLIANCE',
    'x-amz-object-lock-retain-until-date': new Date(Date.now() + retainDays * DAY_MS).toISOString(),
  });
  await answer.body?.cancel();
}
