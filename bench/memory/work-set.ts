/**
 * What a working team writes down and asks for later: incident logs, procedures, settings, code, people, preferences,
 * and statements that replace each other. A rule makes the texts from one set of phrases, and the questions from
 * another: with other words, with typos, and with identifiers as people type them. Every second question of each kind
 * is held back from tuning.
 */
import { randomFrom, type RecallDocument, type RecallSet } from './recall-set.ts';
import { slip, writeAnew } from './typed-otherwise.ts';

export const WORK_KINDS = ['exact', 'typed', 'now', 'then', 'when', 'words', 'slip', 'person'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

export interface WorkQuestion {
  readonly text: string;
  readonly half: 'tuned' | 'unseen';
  readonly kind: WorkKind;
  /** A piece that answers contains one of these. */
  readonly evidence: readonly string[];
}

const SERVICES =
  'atlas-api billing-worker search-indexer mail-relay ledger-sync auth-gateway media-resizer quote-engine'.split(
    ' ',
  );
const PEOPLE =
  'Priya Raman,Tomas Lindholm,Aisha Bello,Marco Ferri,Yuki Tanaka,Lena Vogel,Samuel Okoro,Ines Duarte,Pavel Novak,Grace Muli,Oskar Nyman,Dalia Haddad'.split(
    ',',
  );
const CAUSES =
  'the connection pool of the orders database ran dry|a certificate of the load balancer had expired|a migration locked the invoices table|the message queue filled its disk|a retry storm after a DNS change|a memory leak in the thumbnail cache|a wrong feature flag sent all traffic to one zone|clock drift broke token checks'.split(
    '|',
  );
const CURES =
  'we doubled the pool and restarted the pods|the certificate was renewed by hand|the migration was rolled back|old segments were deleted and the volume was grown|clients got jittered backoff|the cache was capped at 2 GB|the flag was switched off in the console|ntpd was repaired on all hosts'.split(
    '|',
  );
const TASKS =
  'rotating the signing keys|restoring a tenant from backup|onboarding a new supplier|closing the monthly books|draining a node before maintenance|handling a request for erasure|replacing a failed disk|publishing the status page|granting production access|testing the fire alarm'.split(
    '|',
  );
const STEPS =
  'Announce it in the channel an hour before.|Two people must be present from start to end.|Write the ticket number on the checklist.|Stop when the dashboard shows more than one alert.|Keep the old copy for thirty days.|Ask the duty officer for the vault code.'.split(
    '|',
  );
/** A setting's name in the text, its name in a question, and its values. */
const ATTRIBUTES: readonly (readonly [said: string, asked: string, values: string])[] = [
  [
    'deploy window',
    'On which day may we release',
    'Monday 08:00|Tuesday 14:00|Wednesday 10:30|Thursday 16:00',
  ],
  ['on-call lead', 'Who is the first contact at night for', 'Priya Raman|Marco Ferri|Lena Vogel|Pavel Novak'],
  ['error budget', 'How much error budget is there for', '0.1 percent|0.5 percent|1 percent|2 percent'],
  ['log retention', 'How long do we keep the logs of', '7 days|14 days|45 days|180 days'],
  ['primary region', 'In which region does the primary run of', 'Frankfurt|Dublin|Oregon|Singapore'],
];
const KEYS =
  'retry.backoff_ms|cache.ttlSeconds|pool.maxConnections|upload.max_bytes|http.read_timeout|queue.prefetchCount|session.idleMinutes|batch.chunk_size|tls.min_version|search.fuzzy_distance'.split(
    '|',
  );
const FUNCTIONS =
  'reconcileLedgerBatch|parse_supplier_feed|TokenBucketLimiter|rebuildSearchShard|normalize_phone_number|InvoicePdfRenderer|mergeGuestCart|compute_vat_rounding|FlakyTestQuarantine|openTenantVault'.split(
    '|',
  );
const QUIRKS =
  'drops rows without a currency|needs the feed in UTF-8 or it stops halfway|counts refused requests twice|must not run beside a nightly export|keeps the leading zero only for Italy|renders emoji as boxes|forgets coupons when both carts have one|rounds half to even, which auditors dislike|hides a test for a week after two failures|leaves a lock behind when it is killed'.split(
    '|',
  );
const TASTES: readonly (readonly [said: string, asked: string])[] = [
  ['prefers written agendas over slides in reviews', 'How should we prepare a review for P'],
  ['drinks peppermint tea and never coffee', 'What shall I offer P to drink'],
  ['wants code comments in British spelling', 'Which spelling does P want in comments'],
  ['takes the night train rather than a plane', 'How does P like to travel'],
  ['reads mail only at nine and at four', 'When does P look at the inbox'],
  ['asks for charts in a colour-blind palette', 'What is to be minded in charts for P'],
];
const FILLER =
  'Stand-up was short; S looked healthy.|N asked about S again and will look tomorrow.|Lunch with the vendor, nothing new on prices.|The dashboard of S got a new panel.|Reviewed the budget draft with N.|Backlog grooming: three tickets on S were closed.|N is away on Friday.|Talked about the deploy and the logs of S for a while.|The retro said that reviews take too long.|Nothing happened on call.'.split(
    '|',
  );

const DAYS = 120;

export function makeWorkSet(seed = 20_261_101): RecallSet<WorkQuestion> {
  const random = randomFrom(seed);
  const one = (of: readonly string[]): string => of[random(of.length)] ?? '';
  const questions: WorkQuestion[] = [];
  const requests = new Map<WorkKind, number>();
  const ask = (kind: WorkKind, text: string, evidence: string): void => {
    const count = (requests.get(kind) ?? 0) + 1;
    requests.set(kind, count);
    questions.push({ kind, text, half: count % 2 === 1 ? 'tuned' : 'unseen', evidence: [evidence] });
  };
  const diary = Array.from({ length: DAYS }, () => Array.from({ length: 6 + random(6) }, () => filler(one)));
  const note = (day: number, line: string): void => void diary[day]?.splice(random(6), 0, line);
  const documents: RecallDocument[] = [
    ...incidents(random, one, ask),
    ...procedures(random, one, ask),
    ...settings(random, one, ask),
    ...code(one, ask),
    people(random, ask),
  ];
  statements(random, note, ask);
  documents.push(
    ...diary.map((lines, day) => ({
      path: `memory/${dateOf(day)}.md`,
      text: `# ${dateOf(day)}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`,
    })),
  );
  return { documents, questions };
}

type Random = (below: number) => number;
type One = (of: readonly string[]) => string;
type Ask = (kind: WorkKind, text: string, evidence: string) => void;

function filler(one: One): string {
  return one(FILLER).replace('S', one(SERVICES)).replace(/\bN\b/, one(PEOPLE));
}

function dateOf(day: number): string {
  return new Date(Date.UTC(2026, 0, 2 + day * 2)).toISOString().slice(0, 10);
}

function incidents(random: Random, one: One, ask: Ask): RecallDocument[] {
  const months = new Map<string, string[]>();
  for (let at = 0; at < 80; at += 1) {
    const id = `INC-${2200 + at * 7 + random(7)}`;
    const day = dateOf(Math.floor((at * DAYS) / 80));
    const [service, cause] = [one(SERVICES), random(CAUSES.length)];
    const found = `Found at ${8 + random(12)}:${10 + random(50)} by ${one(PEOPLE)} on ${service}.`;
    const because = `Cause of ${id}: ${CAUSES[cause]}.`;
    const cured = `Remedy: ${CURES[(cause + random(2)) % CURES.length]}; ${3 + random(90)} minutes lost, ticket OPS-${7000 + at * 13}.`;
    const lines = months.get(day.slice(0, 7)) ?? [];
    lines.push(`## ${id} (${day})\n\n${found}\n${because}\n${cured}\n`);
    months.set(day.slice(0, 7), lines);
    if (at % 4 === 0)
      ask(
        'exact',
        ['What was the reason for ID?', 'ID: why did it happen?', 'Tell me about ID'][at % 3]?.replace(
          'ID',
          id,
        ) ?? id,
        because,
      );
    if (at % 4 === 1)
      ask(
        'typed',
        ['What broke in ID?', 'ID', 'details on ID please'][at % 3]?.replace('ID', writeAnew(id, random)) ??
          id,
        because,
      );
    if (at % 8 === 2) ask('typed', `How was ${writeAnew(id, random)} fixed?`, cured);
  }
  return [...months].map(([month, parts]) => ({
    path: `memory/incidents/${month}.md`,
    text: `# Incidents of ${month}\n\n${parts.join('\n')}`,
  }));
}

function procedures(random: Random, one: One, ask: Ask): RecallDocument[] {
  return Array.from({ length: 30 }, (_, at) => {
    const id = `SOP-${100 + at * 3 + random(3)}`;
    const task = `${TASKS[at % TASKS.length]}${['', ' in the test region', ' for partners'][Math.floor(at / TASKS.length)]}`;
    const title = `# ${id} ${task}`;
    const owner = `Owner: ${one(PEOPLE)}. Reviewed each ${one(['quarter', 'spring', 'autumn'])}, code ${id}/${random(90) + 10}.`;
    const steps = Array.from({ length: 5 }, (_step, n) => `${n + 1}. ${one(STEPS)}`);
    if (at % 2 === 0) ask('exact', `Who owns ${id}?`, owner);
    else ask('typed', `who is responsible for ${writeAnew(id, random)}`, owner);
    if (at < TASKS.length) ask('slip', slip(`Which procedure covers ${task}?`, random), title);
    return {
      path: `memory/procedures/${id.toLowerCase()}.md`,
      text: `${title}\n\n${owner}\n\n${steps.join('\n')}\n`,
    };
  });
}

function settings(random: Random, one: One, ask: Ask): RecallDocument[] {
  return SERVICES.map((service, at) => {
    const lines = KEYS.map((key, n) => {
      const line = `- \`${key}\` = ${(random(40) + 1) * 25}, set by ${one(PEOPLE)} for ${service}`;
      if ((at + n) % 8 === 0) ask('exact', `What is ${key} set to in ${service}?`, line);
      if ((at + n) % 8 === 3)
        ask('typed', `value of ${writeAnew(key, random)} for ${writeAnew(service, random)}`, line);
      return line;
    });
    return {
      path: `memory/settings/${service}.md`,
      text: `# Settings of ${service}\n\n${lines.join('\n')}\n`,
    };
  });
}

function code(one: One, ask: Ask): RecallDocument[] {
  const lines = FUNCTIONS.map((name, at) => {
    const line = `${name} in ${one(SERVICES)} ${QUIRKS[at]} (see PR ${5500 + at * 17}).`;
    ask('exact', `What is odd about ${name}?`, line);
    ask('typed', `any caveats for ${writeAnew(name, (below) => (at * 7 + below) % below)}`, line);
    if (at % 2 === 0) ask('slip', slipOnce(`caveat of ${name}`, at), line);
    return line;
  });
  return [{ path: 'memory/code.md', text: `# Notes on code\n\n${lines.join('\n\n')}\n` }];
}

/** Omits a letter of the name. */
function slipOnce(text: string, at: number): string {
  const cut = text.length - 4 - (at % 3);
  return text.slice(0, cut) + text.slice(cut + 1);
}

function people(random: Random, ask: Ask): RecallDocument {
  const parts = PEOPLE.map((person, at) => {
    const [text, questionsFor] = TASTES[at % TASTES.length] ?? ['', ''];
    const first = person.split(' ')[0] ?? '';
    const taste = `${first} ${text}.`;
    const desk = `Extension ${4000 + random(900)}, desk ${String.fromCharCode(65 + at)}${random(40) + 1}, badge B${random(9000) + 1000}.`;
    ask('words', `${questionsFor.replace('P', at % 2 ? first : person)}?`, taste);
    ask(
      'person',
      at % 2 ? `What is the phone extension of ${person}?` : `Where does ${person} sit, which desk?`,
      desk,
    );
    ask('slip', slip(`badge number of ${person}`, random), desk);
    return `## ${person}\n\n${desk}\n\n${taste}\n`;
  });
  return { path: 'memory/people.md', text: `# People\n\n${parts.join('\n')}` };
}

/**
 * Each statement has three values one after the other. The questions ask for the last, for an earlier one, and when it
 * changed.
 */
function statements(random: Random, note: (day: number, line: string) => void, ask: Ask): void {
  for (const [kind, [text, questionsFor, values]] of ATTRIBUTES.entries())
    for (const [at, service] of SERVICES.entries()) {
      if ((at + kind) % 2 === 1) continue;
      const [began, moved, last] = [random(35), 40 + random(35), 80 + random(35)] as const;
      const [first, second, third] = threeStatements(text, service, values.split('|'), at);
      note(began, first);
      note(moved, second);
      note(last, third);
      const asOf = monthOf(moved);
      const then = asOf === monthOf(last) ? third : second;
      const way = (at + kind) % 3;
      if (way === 0) ask('now', `${questionsFor} ${service} now?`, third);
      if (way === 1) ask('then', `What was the ${text} of ${service} in ${asOf}?`, then);
      if (way === 2) ask('when', `When did the ${text} of ${service} change last?`, third);
      if (at % 4 === 0) ask('now', `current ${text} ${service}`, third);
      if (at % 4 === 2) ask('then', `What was the first ${text} of ${service}?`, first);
    }
}

/** Writes the three values in order; `at` selects the phrases of the later two. */
function threeStatements(
  words: string,
  service: string,
  values: readonly string[],
  at: number,
): readonly [string, string, string] {
  const valueOf = (n: number): string => values[(at + n) % values.length] ?? '';
  const later = (n: number): string =>
    (n + at) % 2 === 0
      ? `${words} for ${service} moved from ${valueOf(0)} to ${valueOf(n)}.`
      : `As agreed, ${service} has a new ${words}: ${valueOf(n)}.`;
  return [`The ${words} of ${service} is ${valueOf(0)}.`, later(1), later(2)];
}

function monthOf(day: number): string {
  return new Date(dateOf(day)).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}
