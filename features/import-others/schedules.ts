/** Cron jobs of other systems as schedules. They are made paused, because the other system may still run them. */
import { scheduleCreateSchema } from '#features/schedules/index.ts';
import { type Findings, keep, toName } from './findings.ts';

export interface FoundJob {
  readonly name: unknown;
  readonly agent: string;
  readonly message: unknown;
  readonly kind: unknown;
  /** For `cron`. */
  readonly expr?: unknown;
  readonly tz?: unknown;
  /** For `every`. */
  readonly everyMs?: unknown;
  /** For `at`: milliseconds since 1970, or a time in ISO 8601. */
  readonly at?: unknown;
  readonly deleteAfterRun?: unknown;
  /** The chat that gets the answer. */
  readonly channel?: unknown;
  readonly to?: unknown;
}

/** Largest number of milliseconds that a Date holds. */
const MAX_TIME = 8.64e15;

export function addJob(findings: Findings, job: FoundJob): void {
  const name = toName(job.name);
  const what = `schedule ${name || String(job.name)}`;
  const at = job.kind === 'at' ? timeOf(job.at) : undefined;
  if (at !== undefined && at <= new Date().toISOString()) {
    findings.remarks.push({ what, why: `its time ${at} has passed` });
    return;
  }
  const schedule = {
    cron: { kind: 'cron', expr: job.expr, ...(job.tz ? { tz: job.tz } : {}) },
    every: { kind: 'every', every_seconds: Math.round(Number(job.everyMs) / 1_000) },
    at: { kind: 'at', at },
  }[String(job.kind)];
  // A channel is imported under the name of its type, and a chat's session has the names of both.
  const session = job.channel && job.to ? `${String(job.channel)}:${String(job.to)}` : undefined;
  const value = {
    name,
    agent: job.agent,
    message: job.message,
    schedule,
    enabled: false,
    delete_after_run: job.deleteAfterRun === true,
    ...(session !== undefined && { deliver: 'session', session }),
  };
  keep(findings, findings.schedules, what, scheduleCreateSchema, value);
}

function timeOf(at: unknown): string | undefined {
  const time = typeof at === 'number' ? at : Date.parse(String(at));
  return Math.abs(time) <= MAX_TIME ? new Date(time).toISOString() : undefined;
}
