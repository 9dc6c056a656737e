/**
 * Reads how to reach Temporal, as plain options for both Connection and NativeConnection. The official client settings
 * (TEMPORAL_* variables, temporal.toml profiles) are below our own file and flags.
 */
import { readFileSync } from 'node:fs';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { Environment } from './environment.ts';
import type { ParsedConfig } from './schema.ts';

/** The TLS options of both of the SDK's connections; `true` is TLS with the system's roots. */
export type TemporalTls =
  | boolean
  | {
      serverNameOverride?: string;
      serverRootCACertificate?: Uint8Array;
      clientCertPair?: { crt: Uint8Array; key: Uint8Array };
    };

export interface OfficialSettings {
  address?: string;
  namespace?: string;
  apiKey?: string;
  tls?: TemporalTls;
  metadata?: Record<string, string>;
}

/** The official settings, or a problem text when a named file or profile cannot be read. */
export function readOfficialSettings(env: Environment): OfficialSettings | string {
  const set: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value !== '') set[name] = value;
  try {
    const { namespace, connectionOptions } = loadClientConnectConfig({ overrideEnvVars: set });
    const { address, apiKey, tls, metadata } = connectionOptions;
    const plainMetadata = Object.entries(metadata ?? {}).map(([key, value]) => [key, String(value)]);
    return {
      address: address || undefined,
      namespace: namespace || undefined,
      apiKey: typeof apiKey === 'string' ? apiKey : undefined,
      tls: tls ?? undefined,
      metadata: plainMetadata.length > 0 ? Object.fromEntries(plainMetadata) : undefined,
    };
  } catch (error) {
    return `the Temporal client settings (TEMPORAL_* variables or temporal.toml): ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Reads TLS from `temporal.tls` in the file. Throws when a certificate file cannot be read. */
export function readTlsFiles(tls: NonNullable<ParsedConfig['temporal']['tls']>): TemporalTls {
  const { disabled, serverName, serverCaCertPath: ca, clientCertPath: crt, clientKeyPath: key } = tls;
  if (disabled === true) return false;
  return {
    serverNameOverride: serverName,
    serverRootCACertificate: ca === undefined ? undefined : readFileSync(ca),
    clientCertPair:
      crt === undefined || key === undefined ? undefined : { crt: readFileSync(crt), key: readFileSync(key) },
  };
}
