/** What runs over τ² found, and their part of docs/league.md. The text around it is written by hand. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { drawBars } from '../league/picture.ts';
import { DOCS, PAGE, table, withTables } from '../league/report.ts';
import { machine } from '../league/results.ts';
import { PARTS } from '../league/tempoclaw.ts';
import { type Outcome, OUTCOMES } from '../league/trial.ts';
import { DOMAINS } from './service.ts';
import { type Mode, MODES } from './tau-tool.ts';

const RESULTS_FILE = join(import.meta.dirname, 'results.json');
const PICTURE = join(DOCS, 'images', 'tau2.svg');
const MARKS = {
  begin: '<!-- tables of τ²: bench/tau2/main.ts writes them -->',
  end: '<!-- end of the tables of τ² -->',
};

const result = z.object({
  domain: z.enum(DOMAINS),
  mode: z.enum(MODES),
  /** Tasks with expected actions. */
  n: z.number(),
  /** Expected calls, and those of them that write. */
  calls: z.number(),
  writes: z.number(),
  /** How often each process was killed. */
  kills: z.record(z.enum(PARTS), z.number()),
  minutes: z.number(),
  /** Tasks, by the worst that happened to them. */
  outcomes: z.partialRecord(z.enum(OUTCOMES), z.number()),
  /** Tasks whose database has the hash of gold. */
  equal: z.number(),
  /** Calls: made twice, not made, told to the model as unknown, and answered otherwise than gold answers. */
  doubled: z.number(),
  lost: z.number(),
  unknown: z.number(),
  otherwise: z.number(),
  /** Probes after a kill: the call had happened, and it had not. */
  found: z.number(),
  notFound: z.number(),
  /** Of tasks that did not end well: the id, how it ended, and the first result that differs. */
  examples: z.array(z.string()),
});
const results = z.object({ machine: z.string(), runs: z.array(result) });

export type TauResult = z.infer<typeof result>;
export type TauResults = z.infer<typeof results>;

const TITLES: Readonly<Record<Mode, string>> = {
  probe: '`once`, with a `probe`',
  once: '`once`',
  retry: 'repeated',
};
const WORDS: Readonly<Partial<Record<Outcome, string>>> = {
  right: 'equals gold, each call once',
  unknown: 'told that it is unknown',
  failed: 'turn failed',
  doubled: 'a call twice',
  lost: 'other than gold',
};

/** What the last runs found; nothing when there was none. */
export async function readResults(): Promise<TauResults> {
  const text = await readFile(RESULTS_FILE, 'utf8').catch(() => undefined);
  return text === undefined ? { machine: machine(), runs: [] } : results.parse(JSON.parse(text));
}

/** `later` over `before`, in the order of the table. */
export function mergeResults(before: TauResults, later: TauResults): TauResults {
  const all = [...later.runs, ...before.runs];
  const runs = MODES.flatMap((mode) =>
    DOMAINS.flatMap((domain) => all.find((one) => one.mode === mode && one.domain === domain) ?? []),
  );
  return { machine: later.machine, runs };
}

export async function writeReport(found: TauResults): Promise<void> {
  await writeFile(RESULTS_FILE, `${JSON.stringify(found, null, 2)}\n`);
  await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), tablesOf(found), MARKS));
  await writeFile(PICTURE, pictureOf(found));
}

export function tablesOf({ machine, runs }: TauResults): string {
  const killed = ({ kills }: TauResult): string => PARTS.map((part) => kills[part]).join(' / ');
  return [
    `Measured with ${machine}.`,
    '',
    table(
      [
        'tools that write',
        'domain',
        'n',
        '**database equals gold**',
        'writes',
        'made twice',
        'not made',
        'told unknown',
        'answers other than gold’s',
        'turns failed',
        'probes: had happened / had not',
        'kills: API / worker / tool host',
        'minutes',
      ],
      runs.map((run) => [
        TITLES[run.mode],
        run.domain,
        String(run.n),
        `**${run.equal}**`,
        String(run.writes),
        String(run.doubled),
        String(run.lost),
        String(run.unknown),
        `${run.otherwise} of ${run.calls}`,
        String(run.outcomes.failed ?? 0),
        run.mode === 'probe' ? `${run.found} / ${run.notFound}` : '',
        killed(run),
        run.minutes.toFixed(1),
      ]),
    ),
  ].join('\n');
}

function pictureOf({ runs }: TauResults): string {
  const rows = runs.map(({ mode, domain, n, outcomes }) => ({
    title: `${domain}: ${TITLES[mode].replaceAll('`', '')}`,
    n,
    counts: outcomes,
  }));
  const title = 'How the tasks of τ² ended while TempoClaw was killed at random';
  return drawBars({ title, words: WORDS, rows });
}
