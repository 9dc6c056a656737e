/**
 * Ends what commands of dead workers left running: a killed worker cannot do it itself, so the next one does at its
 * start.
 */
import { hostname } from 'node:os';
import { killTree } from './kill-tree.ts';
import { marksOf } from './marks.ts';
import { environmentOf, identityOf, isAlive, processTable } from './process-table.ts';

/**
 * Prefix of the worker's identity in the mark of a command in a container, because an engine may serve workers of other
 * machines.
 */
export const THIS_MACHINE = `${hostname()}/`;

/**
 * Kills every process whose mark of this name has a worker that no longer lives. Background processes have no worker's
 * mark and stay. Returns how many were found.
 */
export async function reapOrphans(name: string): Promise<number> {
  const names = marksOf(name);
  const table = (await processTable()).filter(isAlive);
  const living = new Set(table.map(identityOf));
  let found = 0;
  for (const row of table) {
    const marks = variablesOf(environmentOf(row.pid), Object.values(names));
    const call = marks[names.call];
    const worker = marks[names.worker]?.replace(THIS_MACHINE, '');
    if (worker === undefined || call === undefined || marks[names.process] !== undefined) continue;
    // Without a start time the pid may belong to another process by now; with a machine name it is another machine's.
    if (!/^\d+\.\d+$/.test(worker) || living.has(worker)) continue;
    found += 1;
    await killTree({ pid: row.pid, mark: `${names.call}=${call}` }, 0);
  }
  return found;
}

function variablesOf(
  environment: string | undefined,
  names: readonly string[],
): Readonly<Record<string, string>> {
  if (environment === undefined) return {};
  const pairs = environment
    .split('\0')
    .map((entry): [string, string] => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    })
    .filter(([variable]) => names.includes(variable));
  return Object.fromEntries(pairs);
}
