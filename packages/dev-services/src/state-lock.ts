/**
 * Allows one program for each state folder. Each start writes a claim in a file of its own, then searches for those of
 * others. Of two simultaneous starts, at least one sees the other. A claim whose process is gone does not count, so a
 * killed start or machine leaves no lock behind.
 */
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessMark } from './process-identity.ts';
import { isSameProcess, markProcess, readMark } from './process-identity.ts';

export interface LockPlace {
  readonly folder: string;
  /** The program's name, from which those of its claims follow. */
  readonly name: string;
}

interface Claim {
  readonly mark: ProcessMark;
  readonly held: boolean;
}

const CLAIM = /^(.+)\.\d+\.lock$/;
/** The second line of a claim that has won. */
const HELD = 'held\n';
/** Others give up within milliseconds; a suspended one is not awaited. */
const GIVE_UP_MS = 5_000;

/**
 * Takes the folder for this process; returns false when another one, or this one, already has it. Throws when the
 * folder cannot be written.
 */
export async function takeLock(place: LockPlace): Promise<boolean> {
  const mark = markProcess(process.pid);
  if (mark === undefined) throw new Error('this process is not in the list of processes');
  if (livingClaims(place).some(({ held }) => held)) return false;
  const file = claimFile(place);
  // Written aside, so that nobody reads half of it and mistakes it for a dead process's claim.
  writeFileSync(`${file}.new`, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  for (const until = performance.now() + GIVE_UP_MS; ; await sleep(10)) {
    const rivals = livingClaims(place).filter((claim) => claim.mark.pid !== mark.pid);
    if (rivals.length === 0) break;
    const isLost = rivals.some((rival) => rival.held || order(rival.mark) < order(mark));
    if (isLost || performance.now() > until) {
      releaseLock(place);
      return false;
    }
  }
  appendFileSync(file, HELD);
  removeDeadClaims(place);
  return true;
}

export function releaseLock(place: LockPlace): void {
  rmSync(claimFile(place), { force: true });
}

/** The pid of the process that has the folder, or is about to take it. */
export function lockHolder(place: LockPlace): number | undefined {
  const claims = livingClaims(place);
  return (claims.find(({ held }) => held) ?? claims[0])?.mark.pid;
}

/** The order of simultaneous claims; the first one wins. */
function order({ started, pid }: ProcessMark): string {
  return `${started} ${pid}`;
}

function claimFile({ folder, name }: LockPlace): string {
  return join(folder, `${name}.${process.pid}.lock`);
}

function livingClaims(place: LockPlace): Claim[] {
  return claimFiles(place).flatMap((file) => readClaim(file) ?? []);
}

/** Only for the holder of the lock: a start whose claim this removes gives up anyway. */
function removeDeadClaims(place: LockPlace): void {
  for (const file of claimFiles(place)) if (readClaim(file) === undefined) rmSync(file, { force: true });
}

function claimFiles({ folder, name }: LockPlace): string[] {
  try {
    const claims = readdirSync(folder).filter((entry) => CLAIM.exec(entry)?.[1] === name);
    return claims.map((entry) => join(folder, entry));
  } catch (error) {
    // Without a folder there are no claims. A folder that cannot be read cannot be written either, which is reported
    // then.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

/** Returns undefined when the claim's process is gone. */
function readClaim(file: string): Claim | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    const mark = readMark(JSON.parse(text.split('\n', 1)[0] ?? ''));
    return mark !== undefined && isSameProcess(mark) ? { mark, held: text.endsWith(HELD) } : undefined;
  } catch {
    // It was withdrawn, or is not whole: a machine that stopped may leave an empty file.
    return undefined;
  }
}
