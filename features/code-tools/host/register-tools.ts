/** Registers the tools of a folder, from the command line. */
import { basename, resolve } from 'node:path';
import type { z } from 'zod';
import { CliError } from '#cli/cli-error.ts';
import { call } from '#cli/call.ts';
import type { Client } from '#cli/client.ts';
import { deriveSealKey } from '#domain/payload-seal.ts';
import { sealPurpose } from '../contract.ts';
import { toolHosts } from '../resource.ts';
import type { CodeHookDefinition, CodeToolDefinition } from '../schema.ts';

/** What a host has. */
export interface Registered {
  readonly definitions: readonly CodeToolDefinition[];
  readonly hooks: readonly CodeHookDefinition[];
}

export interface RegisteredTools {
  readonly host: z.output<(typeof toolHosts.operations)['putToolHost']['answer']>;
  /** Opens and seals what Temporal carries. */
  readonly sealKey: Uint8Array<ArrayBuffer>;
}

/** Safe to repeat. They replace what the host had. */
export async function registerTools(
  client: Client,
  name: string,
  { definitions, hooks }: Registered,
): Promise<RegisteredTools> {
  const { key } = client.target();
  if (key === undefined)
    throw new CliError('A tool host needs an API key.', {
      code: 'Unauthorized',
      remedy: 'Give --api-key or TEMPOCLAW_API_KEY; its scope is admin.',
    });
  const sealKey = await deriveSealKey(key, sealPurpose(name));
  const host = await call(client, toolHosts.operations.putToolHost, {
    params: { name },
    body: { seal_key: Buffer.from(sealKey).toString('base64'), tools: [...definitions], hooks: [...hooks] },
  });
  return { host, sealKey };
}

/** The name of the host of a folder: that of the folder, as far as it may be one. */
export function hostNameOf(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 40);
  return name || 'tools';
}
