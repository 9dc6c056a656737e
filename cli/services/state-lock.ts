/**
 * One `up` a state folder. Each start puts down a claim in a file of its own, then looks for those of others: of two at once at
 * least one sees the other. A claim whose process is gone counts for nothing, so a killed start or machine leaves no lock behind.
 */
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessMark } from './process-identity.ts';
import { isSameProcess, markProcess, readMark } from './process-identity.ts';

interface Claim {
  readonly mark: ProcessMark;
  readonly held: boolean;
}

const CLAIM = /^up\.\d+\.lock$/;
/** The second line of a claim that has won. */
const HELD = 'held\n';
/** Others give up within milliseconds; one that stands still is not waited for. */
const GIVE_UP_MS = 5_000;

/** Takes the folder for this process; false when another, or this one, has it. Throws when the folder cannot be written. */
export async function takeLock(stateDir: string): Promise<boolean> {
  const mark = markProcess(process.pid);
  if (mark === undefined) throw new Error('this process is not in the list of processes');
  if (livingClaims(stateDir).some(({ held }) => held)) return false;
  const file = claimFile(stateDir);
  // Written aside, so that nobody reads half of it and takes it for that of a dead process.
  writeFileSync(`${file}.new`, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  for (const until = performance.now() + GIVE_UP_MS; ; await sleep(10)) {
    const rivals = livingClaims(stateDir).filter((claim) => claim.mark.pid !== mark.pid);
    if (rivals.length === 0) break;
    const isLost = rivals.some((rival) => rival.held || order(rival.mark) < order(mark));
    if (isLost || performance.now() > until) {
      releaseLock(stateDir);
      return false;
    }
  }
  appendFileSync(file, HELD);
  removeDeadClaims(stateDir);
  return true;
}

export function releaseLock(stateDir: string): void {
  rmSync(claimFile(stateDir), { force: true });
}

/** The pid of the `up` that has the folder, or is about to take it. */
export function lockHolder(stateDir: string): number | undefined {
  const claims = livingClaims(stateDir);
  return (claims.find(({ held }) => held) ?? claims[0])?.mark.pid;
}

/** Of claims made at once the first in this order wins. */
function order({ started, pid }: ProcessMark): string {
  return `${started} ${pid}`;
}

function claimFile(stateDir: string): string {
  return join(stateDir, `up.${process.pid}.lock`);
}

function livingClaims(stateDir: string): Claim[] {
  return claimNames(stateDir).flatMap((name) => readClaim(join(stateDir, name)) ?? []);
}

/** Only for who has the lock: a start whose claim is lost by this gives up all the same. */
function removeDeadClaims(stateDir: string): void {
  for (const name of claimNames(stateDir)) {
    const file = join(stateDir, name);
    if (readClaim(file) === undefined) rmSync(file, { force: true });
  }
}

function claimNames(stateDir: string): string[] {
  try {
    return readdirSync(stateDir).filter((name) => CLAIM.test(name));
  } catch (error) {
    // No folder, no claims. One that may not be read cannot be written either, which is told then.
    if (error instanceof Error && 'code' in error) return [];
    throw error;
  }
}

/** Undefined when its process is gone. */
function readClaim(file: string): Claim | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    const mark = readMark(JSON.parse(text.split('\n', 1)[0] ?? ''));
    return mark !== undefined && isSameProcess(mark) ? { mark, held: text.endsWith(HELD) } : undefined;
  } catch {
    // Withdrawn meanwhile, or not whole: a machine that stopped may leave an empty file.
    return undefined;
  }
}
