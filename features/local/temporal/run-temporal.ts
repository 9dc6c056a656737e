/**
 * Runs Temporal's own command line against the server of a running TempoClaw. It passes the arguments through
 * unchanged.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Config } from '#config';
import { childEnvironment, commandFolders, userCacheDir } from '#config';
import { obtainTemporalBinary } from '@tempoclaw/dev-services';

/** The server. The program reads variables below its own flags, and they do not show in the list of processes. */
export interface TemporalPlace {
  readonly address: string;
  readonly namespace: string;
  readonly codecEndpoint?: string | undefined;
}

/** Resolves with its exit code, or 128 plus the number of the signal that ended it. */
export async function runTemporal(
  args: readonly string[],
  config: Config,
  place: TemporalPlace | undefined,
): Promise<number> {
  const env = childEnvironment(place === undefined ? {} : placeVariables(config, place));
  const { path } = await obtainTemporalBinary({
    cacheDir: userCacheDir(),
    folders: commandFolders(),
    env: childEnvironment({}),
    addressSetting: 'TEMPORAL_ADDRESS',
    onProgress: (detail) => void process.stderr.write(`${detail}\n`),
  });
  // The listener comes first, because a signal may come as soon as the child exists. Ctrl-C at a terminal reaches the
  // whole group by itself; a signal to this process alone is passed on.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const child = spawn(path, args, { env, stdio: 'inherit' });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (signal === null ? 1 : constants.signals[signal]);
}

function placeVariables(config: Config, place: TemporalPlace): Record<string, string | undefined> {
  const { tls, apiKey, metadata = {}, address } = config.temporal;
  // Key and certificates are for the server that the settings name, and for no other.
  const isOwn = address !== place.address;
  const parts = typeof tls === 'object' ? tls : {};
  const text = (bytes: Uint8Array | undefined): string | undefined =>
    bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8');
  return {
    TEMPORAL_ADDRESS: place.address,
    TEMPORAL_NAMESPACE: place.namespace,
    TEMPORAL_CODEC_ENDPOINT: place.codecEndpoint,
    // Profiles are already in the settings, and one for another server must not be used for a server of ours.
    TEMPORAL_CONFIG_FILE: '/dev/null',
    TEMPORAL_PROFILE: undefined,
    TEMPORAL_API_KEY: isOwn ? undefined : apiKey,
    TEMPORAL_TLS: !isOwn && tls !== undefined && tls !== false ? 'true' : 'false',
    TEMPORAL_TLS_SERVER_NAME: isOwn ? undefined : parts.serverNameOverride,
    ...(isOwn || typeof tls !== 'object'
      ? {}
      : {
          TEMPORAL_TLS_SERVER_CA_CERT_DATA: text(parts.serverRootCACertificate),
          TEMPORAL_TLS_CLIENT_CERT_DATA: text(parts.clientCertPair?.crt),
          TEMPORAL_TLS_CLIENT_KEY_DATA: text(parts.clientCertPair?.key),
          // What the settings read from these files is passed as data; both at once are refused.
          TEMPORAL_TLS_SERVER_CA_CERT_PATH: undefined,
          TEMPORAL_TLS_CLIENT_CERT_PATH: undefined,
          TEMPORAL_TLS_CLIENT_KEY_PATH: undefined,
        }),
    ...Object.fromEntries(
      Object.entries(isOwn ? {} : metadata).map(([name, value]) => [
        `TEMPORAL_GRPC_META_${name.toUpperCase().replaceAll('-', '_')}`,
        value,
      ]),
    ),
  };
}
