/**
 * Heartbeats: an agent is woken at intervals to go through its HEARTBEAT.md, and says something only when there is
 * something to say.
 */

/** Its checklist: a context file (VF-1), which each prompt contains. */
export const CHECKLIST = 'HEARTBEAT.md';

/** An answer of this, with hardly anything else, is not sent to people. */
export const QUIET_ANSWER = 'HEARTBEAT_OK';

/** The settings of a heartbeat, besides those of a schedule at intervals. */
export interface HeartbeatSettings {
  /** Characters besides QUIET_ANSWER that a quiet answer may have. */
  readonly ack_max_chars: number;
  /** Retries of a beat whose turn has failed. */
  readonly max_retries: number;
  /** True if each beat has a session of its own; otherwise it uses the session that it posts in. */
  readonly isolated_session: boolean;
  /** True if the prompt has no file but the checklist. */
  readonly light_context: boolean;
  /** `HH:MM-HH:MM` in `timezone`; at all times when absent. */
  readonly active_hours?: string | undefined;
  readonly timezone: string;
  /** `provider/model` in place of the agent's. */
  readonly model?: string | undefined;
}

export const HEARTBEAT_OUTCOMES = ['quiet', 'said', 'failed'] as const;

export const HEARTBEAT_LIMITS = {
  /** Seconds. */
  min: 300,
  max: 31_536_000,
  usual: 1_800,
  ackChars: 10_000,
  retries: 10,
} as const;

export const HEARTBEAT_DEFAULTS: HeartbeatSettings = {
  ack_max_chars: 300,
  max_retries: 2,
  isolated_session: true,
  light_context: false,
  timezone: 'UTC',
};

export const HEARTBEAT_PROMPT = `This is your heartbeat: nobody has written to you. Go through ${CHECKLIST}, which is among your files, and do what it asks for now. What earlier conversations were about is not yours to repeat. When nothing needs a person's attention, answer ${QUIET_ANSWER} and nothing else; otherwise answer with what is to be said, without that word.`;

/** `00:00` to `23:59`; the end may be `24:00`. */
export const ACTIVE_HOURS = /^(?:[01]\d|2[0-3]):[0-5]\d-(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;

/**
 * Uses the local time of the zone, so that a clock change shifts nothing. Hours that end before they begin cross
 * midnight.
 */
export function isActive(
  { active_hours: hours, timezone }: Pick<HeartbeatSettings, 'active_hours' | 'timezone'>,
  at: Date,
): boolean {
  if (hours === undefined) return true;
  const [from = '', to = ''] = hours.split('-');
  const clock = { timeZone: timezone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const now = new Intl.DateTimeFormat('en-GB', clock).format(at);
  if (from === to) return true;
  return from < to ? from <= now && now < to : from <= now || now < to;
}

/** Characters of a checklist that are read; a longer one has something to do. */
const MAX_EXAMINED = 10_000;

/** True for only headings, comments, empty lines and empty points: there is nothing to do, and no model is called. */
export function isEmptyChecklist(text: string): boolean {
  if (text.length > MAX_EXAMINED) return false;
  const lines = text.replaceAll(/<!--[\s\S]*?-->/g, '').split('\n');
  return lines.every((line) => /^(?:#.*|(?:[-*+]|\d+[.)])?\s*(?:\[[ xX]?\])?)$/.test(line.trim()));
}

/** What an answer says to people, without QUIET_ANSWER at its ends; undefined if it is quiet. */
export function spokenPart(answer: string, ackMaxChars: number): string | undefined {
  const whole = answer.trim();
  const started = /^[*_`#>\s]{0,20}HEARTBEAT_OK(?!\w)[*_`.!:,\s]{0,20}/.exec(whole);
  const rest = started ? whole.slice(started[0].length) : whole;
  // Only the end is searched, because a long answer is not quiet.
  const end = rest.slice(-80);
  const ended = /[*_`(\s]{0,20}(?<!\w)HEARTBEAT_OK[*_`.!)\s]{0,20}$/.exec(end);
  const text = (ended ? rest.slice(0, rest.length - ended[0].length) : rest).trim();
  const isQuiet = text === '' || ((started ?? ended) && text.length <= ackMaxChars);
  return isQuiet ? undefined : text;
}

/** The message to the session whose agent should say it. */
export function announcementText(words: string): string {
  return `[System Message] Your heartbeat has something to say. Say it here, in your own words and without checking it again:\n\n${words}`;
}

/** Seconds before a failed turn is tried again. */
const FIRST_RETRY = 5;

/**
 * Seconds until the beat is checked again, and 0 when it should be decided now. `age` is that of the turn's end, or
 * else of the beat.
 */
export function lookAgain(turn: {
  readonly status: string | null;
  readonly age: number;
  readonly attempt: number;
}): number {
  const wait = Math.min(3_600, FIRST_RETRY * 4 ** (turn.attempt - 1));
  if (turn.status === 'failed') return Math.max(0, Math.ceil(wait - turn.age));
  const isOver = turn.status === null || turn.status === 'completed' || turn.status === 'stopped';
  // The checks become less frequent, so that one that waits for people for weeks leaves a small history.
  return isOver ? 0 : Math.min(3_600, Math.max(1, Math.round(turn.age / 8)));
}
