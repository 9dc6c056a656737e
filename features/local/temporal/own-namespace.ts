/**
 * Chooses the namespace of an installation. Its own dev server has its own one, which another's server at the same port
 * does not have.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '#config';

/** The namespace of a server that somebody else runs. */
const USUAL = 'default';
const OWN = /^tempoclaw-[0-9a-f]{12}$/;

/**
 * Returns the namespace of the settings. If they name neither a server nor a namespace, it is a random one that is kept
 * in the state folder. An installation may reach another's server, because its own ended and the other took the port;
 * neither then takes the other's work.
 */
export function namespaceOf({ temporal, stateDir }: Config): string {
  if (temporal.address !== undefined || temporal.namespace !== USUAL) return temporal.namespace;
  const file = join(stateDir, 'temporal-namespace');
  const kept = readKept(file);
  if (kept !== undefined) return kept;
  const made = `tempoclaw-${randomBytes(6).toString('hex')}`;
  writeFileSync(`${file}.new`, `${made}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return made;
}

function readKept(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return OWN.test(text) ? text : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
