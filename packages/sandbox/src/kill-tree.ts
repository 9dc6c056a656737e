/**
 * Ends a command with everything it started: its process group and session, its descendants, and all processes with its
 * mark in the environment. The mark also finds processes that created their own session.
 */
import {
  commandOf,
  environmentOf,
  identityOf,
  isAlive,
  lastPid,
  type ProcessRow,
  processRow,
  processTable,
} from './process-table.ts';

export interface Target {
  /** Leader of the group and session; 0 when only the mark is known. */
  readonly pid: number;
  /** The parent of its leftover processes, which ends after the last of them and is not killed itself. */
  readonly keeper?: number | undefined;
  /** `NAME=value` in the environment of all its processes. */
  readonly mark: string;
  /** Clock ticks since boot at its start: older processes cannot belong to it. */
  readonly since?: number;
  /** Smaller process ids cannot belong to it, because ids have not wrapped around since its start. */
  readonly after?: number;
}

/** Default milliseconds between SIGTERM and SIGKILL. */
export const GRACE_MS = 3_000;
/** Milliseconds between checks whether they have ended. */
const POLL_MS = 50;
/** A process that starts others while it is killed is killed again, at most this often. */
const ROUNDS = 20;
/** A start takes microseconds, unless the machine is busy. */
const STARTING_MS = 5;
const MAX_SCANS = 100;
/** Each search after the first reads only processes that started since. */
const TABLE_SCANS = 10;

/**
 * Sends SIGTERM, waits up to `graceMs`, sends SIGKILL. Resolves to true when all are dead, or to false one second later
 * if the kernel keeps some alive.
 */
export async function killTree(target: Target, graceMs: number = GRACE_MS): Promise<boolean> {
  let victims = await findTree(target);
  signalAll(target, victims, 'SIGTERM');
  // A stopped process receives its SIGTERM only when it continues.
  signalAll(target, victims, 'SIGCONT');
  const until = performance.now() + graceMs;
  while (performance.now() < until) {
    if (!(await anyAlive(target, victims))) break;
    await pause(POLL_MS);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await findTree(target, victims);
    // Only a search that started after the last of them had ended proves that none of them started another.
    if (found.length === 0 && !(await anyAlive(target, victims))) return endKeeper(target);
    victims = [...victims, ...found];
    signalAll(target, victims, 'SIGKILL');
    await pause(POLL_MS);
  }
  return !(await anyAlive(target, victims));
}

/** A stopped keeper does not end by itself. */
function endKeeper({ keeper }: Target): true {
  if (keeper !== undefined && processRow(keeper)?.state === 'T') send(keeper, 'SIGKILL');
  return true;
}

/** Ends processes that remain after a command ended by itself. Returns how many there were. */
export async function killLeftovers(target: Target, graceMs: number): Promise<number> {
  const remaining = await findTree(target);
  if (remaining.length > 0 || groupExists(target.pid)) await killTree(target, graceMs);
  return remaining.length;
}

/**
 * All living processes that belong to the target; `known` ones belong to it even when their mark is gone. The search is
 * repeated while it is not certain: a process that is just being started by another program shows no environment yet,
 * and one that ended during the search may have started another.
 */
export async function findTree(target: Target, known: readonly ProcessRow[] = []): Promise<ProcessRow[]> {
  for (let probe = 1; ; probe += 1) {
    const { members, isCertain } = await scanTree(target, known);
    if (isCertain || probe === MAX_SCANS) return members;
    await pause(STARTING_MS);
  }
}

interface TreeScan {
  readonly members: ProcessRow[];
  /** Whether nothing that belongs to it can have been missed. */
  readonly isCertain: boolean;
}

async function scanTree(target: Target, known: readonly ProcessRow[]): Promise<TreeScan> {
  const { since = 0 } = target;
  const table = (await wholeTable(target.after)).filter(
    (row) => isAlive(row) && Number(row.started) >= since,
  );
  const knownIds = new Set(known.map(identityOf));
  // 0 and 1 belong to the system: everything descends from them.
  const leader = target.pid > 1 ? target.pid : Number.NaN;
  const members = new Set<number>([leader, target.keeper ?? Number.NaN]);
  const pids = new Set(table.map(({ pid }) => pid));
  const starting: number[] = [];
  let hasEnded = false;
  for (const row of table) {
    const environment = environmentOf(row.pid);
    const inGroup = row.group === leader || row.session === leader;
    if (inGroup || knownIds.has(identityOf(row)) || isMarked(environment, target.mark)) members.add(row.pid);
    else if (environment === '' && isStarting(row)) starting.push(row.pid);
    // The children of one with a living parent in the table are found by themselves: this one nobody looks after.
    else if (environment === undefined && !pids.has(row.parent) && !isStillAlive(row)) hasEnded = true;
  }
  addDescendants(members, table);
  return {
    members: table.filter(
      ({ pid }) => members.has(pid) && pid > 1 && pid !== process.pid && pid !== target.keeper,
    ),
    isCertain: !hasEnded && starting.every((pid) => members.has(pid)),
  };
}

function addDescendants(members: Set<number>, table: readonly ProcessRow[]): void {
  for (let grew = true; grew; ) {
    grew = false;
    for (const { pid, parent } of table) {
      if (members.has(pid) || !members.has(parent)) continue;
      members.add(pid);
      grew = true;
    }
  }
}

/** A consistent table: processes that are started while it is read, by one that ends meanwhile, are included. */
async function wholeTable(after?: number): Promise<readonly ProcessRow[]> {
  const rows = new Map<number, ProcessRow>();
  let from = after;
  for (let probe = 0; probe < TABLE_SCANS; probe += 1) {
    const last = lastPid();
    for (const row of await processTable(from)) rows.set(row.pid, row);
    const now = lastPid();
    if (last === undefined || now === last) break;
    // When ids have wrapped around, all are read again.
    from = now !== undefined && now > last ? last : undefined;
  }
  return [...rows.values()];
}

function isStillAlive(row: ProcessRow): boolean {
  const now = processRow(row.pid);
  return now !== undefined && isAlive(now) && identityOf(now) === identityOf(row);
}

/**
 * Between two programs: the old memory is gone, and the new arguments are not there yet. The kernel's own threads have
 * neither, and no group.
 */
function isStarting({ pid, group }: ProcessRow): boolean {
  return group !== 0 && commandOf(pid) === '';
}

export function hasMark(pid: number, mark: string): boolean {
  return isMarked(environmentOf(pid), mark);
}

function isMarked(environment: string | undefined, mark: string): boolean {
  return environment !== undefined && `\0${environment}`.includes(`\0${mark}\0`);
}

async function anyAlive(target: Target, victims: readonly ProcessRow[]): Promise<boolean> {
  const table = await processTable();
  if (table.length === 0) return groupExists(target.pid);
  const ids = new Set(victims.map(identityOf));
  return table.some(
    (row) => isAlive(row) && ((target.pid > 1 && row.group === target.pid) || ids.has(identityOf(row))),
  );
}

function signalAll(target: Target, victims: readonly ProcessRow[], signal: NodeJS.Signals): void {
  send(-target.pid, signal);
  for (const { pid } of victims) send(pid, signal);
}

function groupExists(pid: number): boolean {
  return send(-pid, 0);
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  // 0, 1 and -1 mean our own group, init, and all processes.
  if (Math.abs(pid) <= 1) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESRCH: it has already ended. EPERM: it changed to another user (setuid), so we may not signal it.
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
