/**
 * Computes when a schedule runs. Cron expressions are read only here: Temporal gets instants, never an expression,
 * because its server reads some of them differently (`#`, both day fields, the hours that a clock change skips or
 * doubles).
 */
import { Cron } from 'croner';
import { SCHEDULE_LIMITS } from '../contract/schedule.ts';
import type { Timing } from '../schema/schedule.ts';

/** Temporal's server refuses calendars of years after 2100 (maxCalendarYear of its scheduler). */
const LAST = Date.parse('2100-01-01T00:00:00Z');

/**
 * The instants after `after`, in order, at most `count`, and none after LAST. Throws for an expression that
 * `timingProblem` refuses.
 */
export function nextInstants(timing: Timing, after: Date, count: number): Date[] {
  return instantsOf(timing, after, count).filter((at) => at.getTime() < LAST);
}

function instantsOf(timing: Timing, after: Date, count: number): Date[] {
  switch (timing.kind) {
    case 'at': {
      const at = new Date(wholeSeconds(timing.at));
      return at > after ? [at] : [];
    }
    case 'every': {
      const step = timing.every_seconds * 1000;
      const from = wholeSeconds(timing.from);
      const first = from + Math.max(1, Math.floor((after.getTime() - from) / step) + 1) * step;
      return Array.from({ length: count }, (_, n) => new Date(first + n * step));
    }
    case 'cron':
      return takesEveryHour(timing.expr)
        ? new Cron(timing.expr, { timezone: timing.tz, paused: true }).nextRuns(count, after)
        : instantsOfClock(timing, after, count);
  }
}

/**
 * Whether it runs in each hour of its days. Such an expression counts the hours that pass, so that a clock change
 * neither skips nor adds a run; any other one names times of the clock.
 */
function takesEveryHour(expr: string): boolean {
  const fields = expr.trim().split(/\s+/);
  if (fields.length === 1) return /^@hourly$/i.test(expr.trim());
  const hours = new Cron(`0 ${fields.at(-4)} * * *`, { timezone: 'UTC', paused: true });
  return hours.nextRuns(24, new Date(-1)).at(-1)?.getTime() === 23 * HOUR;
}

/**
 * Reads the expression as in a zone whose clock never changes, and takes for each of its times the first instant at which
 * the zone's clock shows it or a later one: the end of the gap for a skipped time, the first of two for a doubled one.
 */
function instantsOfClock(
  { expr, tz }: Extract<Timing, { kind: 'cron' }>,
  after: Date,
  count: number,
): Date[] {
  const times = new Cron(expr, { timezone: 'UTC', paused: true });
  const found: Date[] = [];
  let latest = after.getTime();
  let time = times.nextRun(new Date(shownAt(latest, tz)));
  while (time && found.length < count && latest < LAST) {
    const at = firstShowing(time.getTime(), tz);
    if (at > latest) {
      found.push(new Date(at));
      latest = at;
    }
    time = times.nextRun(time);
  }
  return found;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What the clock of the zone shows at the instant, as if it were UTC. */
function shownAt(at: number, timeZone: string): number {
  const shown = clockOf(timeZone).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(shown.find((one) => one.type === type)?.value);
  const day = Date.UTC(part('year'), part('month') - 1, part('day'));
  return day + part('hour') * HOUR + part('minute') * 60_000 + part('second') * 1000;
}

const MAX_CLOCKS = 600;

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Making one takes longer than a hundred uses of it. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  // Zones have many spellings.
  if (clocks.size >= MAX_CLOCKS) clocks.clear();
  clocks.set(timeZone, clock);
  return clock;
}

/** The first instant at which the clock shows the time or a later one. No clock changes twice within two days. */
function firstShowing(time: number, tz: string): number {
  const offset = (at: number): number => shownAt(at, tz) - at;
  const early = time - offset(time - DAY);
  const late = time - offset(time + DAY);
  for (const at of [early, late]) if (shownAt(at, tz) === time) return at;
  // The clock skips it between the two, at a whole second.
  let [before, after] = [Math.min(early, late), Math.max(early, late)];
  while (after - before > 1000) {
    const middle = before + Math.floor((after - before) / 2000) * 1000;
    if (shownAt(middle, tz) < time) before = middle;
    else after = middle;
  }
  return after;
}

/** Milliseconds since 1970 in whole seconds, as Temporal's intervals and instants are. */
export function wholeSeconds(time: string | undefined): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) * 1000;
}

/** Whether the current schedule runs at that instant. */
export function isInstantOf(timing: Timing, at: Date): boolean {
  return nextInstants(timing, new Date(at.getTime() - 1), 1)[0]?.getTime() === at.getTime();
}

/** Why no schedule can have it; undefined when one can. */
export function timingProblem(timing: Timing, now: Date): string | undefined {
  if (timing.kind === 'cron') {
    const problem = expressionProblem(timing.expr, timing.tz);
    if (problem !== undefined) return problem;
  }
  const next = nextInstants(timing, now, GAPS_CHECKED);
  if (next.length === 0) return neverComes(timing, now);
  const isTooClose = next.some(
    (at, n) => n > 0 && at.getTime() - (next[n - 1]?.getTime() ?? 0) < SCHEDULE_LIMITS.gap * 1000,
  );
  return isTooClose ? `it runs more often than each ${SCHEDULE_LIMITS.gap} seconds` : undefined;
}

function neverComes(timing: Timing, now: Date): string {
  if (timing.kind === 'cron') return `expr: "${timing.expr}" never comes; there is no such date`;
  const [field, time] = timing.kind === 'at' ? ['at', timing.at] : ['from', timing.from];
  const isOver = wholeSeconds(time) <= now.getTime();
  return `${field}: ${time} is ${isOver ? 'over; give a time to come' : 'too far away; give a time before the year 2100'}`;
}

/** Gaps that are checked: two minutes of a pattern in seconds. */
const GAPS_CHECKED = 120;
const FIELDS = 'minute hour day-of-month month day-of-week';

function expressionProblem(expr: string, tz: string): string | undefined {
  if (!isZone(tz)) return `tz: unknown time zone "${tz}"; give an IANA name such as Europe/Berlin`;
  const fields = expr.trim().split(/\s+/);
  const isNickname = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i.test(expr.trim());
  if (!isNickname && fields.length !== 5 && fields.length !== 6)
    return `expr: "${expr}" has ${fields.length} fields; give five (${FIELDS}), or six with the second first`;
  try {
    nextInstants({ kind: 'cron', expr, tz }, new Date(0), 1);
    return undefined;
  } catch (error) {
    return `expr: ${error instanceof Error ? parserWords(error.message) : String(error)}`;
  }
}

/** The parser counts days and months from 0. */
function parserWords(message: string): string {
  return message
    .replace(/^CronPattern: /, '')
    .replace(/(?<=^Invalid value for (?:day|month): )-?\d+$/, (value) => String(Number(value) + 1));
}

/** Whether it is the name of a time zone. */
export function isZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).format() !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
