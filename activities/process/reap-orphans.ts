/** Ends what commands of dead workers left running (F2): a killed worker cannot do it itself, the next one does at its start. */
import { hostname } from 'node:os';
import { CALL_MARK, killTree, PROCESS_MARK, WORKER_MARK } from './kill-tree.ts';
import { environmentOf, identityOf, isAlive, processTable } from './process-table.ts';

/** Before the identity of a worker in the mark of a command in a box, which an engine may run for workers of other machines. */
export const THIS_MACHINE = `${hostname()}/`;

/**
 * Kills every process whose mark names a worker that no longer lives. Background processes carry no worker's mark and
 * stay. Returns how many were found.
 */
export async function reapOrphans(): Promise<number> {
  const table = (await processTable()).filter(isAlive);
  const living = new Set(table.map(identityOf));
  let found = 0;
  for (const row of table) {
    const marks = marksOf(environmentOf(row.pid));
    const { [CALL_MARK]: call } = marks;
    const worker = marks[WORKER_MARK]?.replace(THIS_MACHINE, '');
    if (worker === undefined || call === undefined || marks[PROCESS_MARK] !== undefined) continue;
    // Without a start time the pid may be anybody's by now; with a machine it is another's.
    if (!/^\d+\.\d+$/.test(worker) || living.has(worker)) continue;
    found += 1;
    await killTree({ pid: row.pid, mark: `${CALL_MARK}=${call}` }, 0);
  }
  return found;
}

function marksOf(environment: string | undefined): Readonly<Record<string, string>> {
  if (environment === undefined) return {};
  const pairs = environment
    .split('\0')
    .filter((entry) => entry.startsWith('TEMPOCLAW_'))
    .map((entry): [string, string] => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    });
  return Object.fromEntries(pairs);
}
