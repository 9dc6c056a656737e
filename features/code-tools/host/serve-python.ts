/** Keeps the program of a folder's Python tools running. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { CliError } from '#cli/cli-error.ts';
import type { OfficialSettings, TemporalTls } from '#config/temporal-connection.ts';
import { queueOf } from '../contract.ts';
import type { CodeToolDefinition } from '../schema.ts';
import type { HostParts } from './serve.ts';
import { type PythonProgram, type PythonTarget, startPython } from './python.ts';

export interface PythonParts
  extends Pick<HostParts, 'temporal' | 'queues' | 'sealKey' | 'onReady' | 'signal'> {
  readonly folder: string;
  /** It has loaded the tools that were registered. */
  readonly program: PythonProgram;
  readonly definitions: readonly CodeToolDefinition[];
  /** Called when it has ended by itself, and starts again. */
  readonly onLost: () => void;
}

/** Between the end of the program and its next start. */
const RESTART_MS = 1_000;

/**
 * Resolves when `signal` is aborted and what ran has ended. @throws CliError when it does not start, or when its tools
 * are others after it was lost: those were not registered.
 */
export async function servePython(parts: PythonParts): Promise<void> {
  const { folder, definitions, onReady, onLost, signal } = parts;
  let program = parts.program;
  signal.addEventListener('abort', () => void program.end(), { once: true });
  try {
    await program.serve(targetOf(parts));
    onReady();
    for (;;) {
      if (signal.aborted) await program.end();
      await program.ended;
      if (signal.aborted) return;
      onLost();
      await sleep(RESTART_MS);
      program = startPython(folder, 'serve');
      const { definitions: found } = await program.readTools();
      if (!isDeepStrictEqual(found, definitions))
        throw new CliError('The Python tools have changed since they were registered.', {
          code: 'InvalidTools',
          remedy: 'Start this command again; it registers them.',
        });
      // When Temporal is away, it ends again.
      await program.serve(targetOf(parts)).catch(() => undefined);
    }
  } finally {
    await program.end();
  }
}

function targetOf({ temporal, queues, sealKey }: PythonParts): PythonTarget {
  const { address = '127.0.0.1:7233', namespace = 'default', apiKey, tls, metadata } = temporal;
  return {
    queues: { runs: queueOf(queues.runs, 'python'), probes: queueOf(queues.probes, 'python') },
    seal_key: Buffer.from(sealKey).toString('base64'),
    temporal: { address, namespace, api_key: apiKey, tls: tlsOf(tls), metadata },
  };
}

function tlsOf(tls: OfficialSettings['tls']): unknown {
  if (typeof tls !== 'object') return tls;
  const { serverNameOverride, serverRootCACertificate, clientCertPair }: Exclude<TemporalTls, boolean> = tls;
  const base64 = (bytes: Uint8Array | undefined): string | undefined =>
    bytes && Buffer.from(bytes).toString('base64');
  return {
    domain: serverNameOverride,
    ca: base64(serverRootCACertificate),
    cert: base64(clientCertPair?.crt),
    key: base64(clientCertPair?.key),
  };
}
