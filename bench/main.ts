/**
 * `npm run bench` compares TempoClaw with hand-written Temporal loops on the same server, in one run, interleaved. It
 * prints tables and writes bench/results.md (a whole run only). `--quick` takes a minute, `--only NAME` selects, and
 * `--json` prints numbers. `--server FOLDER` runs on a production-like Temporal server, which has its own part of the
 * results.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createBare, createTempoclaw, timeTurn } from './contender.ts';
import { type Bench, inRounds, type Measure } from './measure.ts';
import { agents } from './measures/agents.ts';
import { goOn } from './measures/go-on.ts';
import { longSession, longTurn } from './measures/long-lives.ts';
import { httpTurns } from './measures/http-turns.ts';
import { knowledge } from './measures/knowledge.ts';
import { neighbours } from './measures/neighbours.ts';
import { retention } from './measures/retention.ts';
import { parkedMemory } from './measures/parked-memory.ts';
import { memory } from './measures/memory.ts';
import { reach } from './measures/reach.ts';
import { slowModels } from './measures/slow-models.ts';
import { longSteps, shortSteps } from './measures/step-latency.ts';
import { throughput } from './measures/throughput.ts';
import { waits } from './measures/waits.ts';
import { workspaces } from './measures/workspaces.ts';
import { reached, type Section, sectionText } from './report.ts';
import { startBenchStack } from './stack.ts';

/** The order matters: the parked sessions stay in the worker, and the kills come last. */
const MEASURES: Readonly<Record<string, Measure>> = {
  short: shortSteps,
  long: longSteps,
  waits,
  throughput,
  http: httpTurns,
  'long-turn': longTurn,
  'long-session': longSession,
  agents,
  parked: parkedMemory,
  reach,
  workspaces,
  memory,
  knowledge,
  'slow-models': slowModels,
  neighbours,
  retention,
  'go-on': goOn,
};

const PARTS = {
  dev: '# Results of `npm run bench`',
  production: '## On a server as production has it',
} as const;
const INTRODUCTION = [
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown CPU'}. Medians with the least and the`,
  'most in brackets. The sides ran interleaved in one run on one machine: only ratios mean anything elsewhere.',
  'Bare A and bare B are hand-written loops (bench/bare/): A carries its messages through history, B keeps them in a table.',
  '',
];

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    /** Folder for CPU profiles of the workers. */
    profile: { type: 'string' },
    server: { type: 'string' },
    /** How often everything runs on one stack. */
    repeat: { type: 'string', default: '1' },
  },
});
const names = flags.only ?? Object.keys(MEASURES);
const unknown = names.filter((name) => !Object.hasOwn(MEASURES, name));
if (unknown.length > 0) {
  console.error(`No measurement ${unknown.join(', ')}; there are ${Object.keys(MEASURES).join(', ')}.`);
  process.exit(2);
}

const log = (words: string): void => console.error(`bench: ${words}`);
log('starting Postgres, Temporal and the workers');
const stack = await startBenchStack({ profileDir: flags.profile, server: flags.server });
const sections: Section[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    log('stopping');
    void stack.stop().finally(() => process.exit(130));
  });
try {
  const tempoclaw = await createTempoclaw(stack);
  const bench: Bench = {
    stack,
    bareA: createBare(stack, 'bareCarried'),
    bareB: createBare(stack, 'bareTabled'),
    ours: tempoclaw.contender,
    temporal: tempoclaw.temporal,
    workers: { bare: await stack.startWorker('bare'), tempoclaw: await stack.startWorker('tempoclaw') },
    quick: flags.quick,
    log: log,
  };
  log('warming up');
  await inRounds(bench, flags.quick ? 1 : 6, (contender) =>
    timeTurn(contender, { steps: 5, tool: 'datetime' }),
  );
  for (const name of Array.from({ length: Number(flags.repeat) }, () => names).flat()) {
    const section = await MEASURES[name]?.(bench);
    if (section) sections.push(section);
    if (section && !flags.json) console.log(sectionText(section));
  }
  await tempoclaw.close();
} finally {
  await stack.stop();
}

if (flags.json) console.log(JSON.stringify({ quick: flags.quick, sections }, null, 2));
const whole = !flags.quick && flags.only === undefined;
if (whole) await writeResults(flags.server === undefined ? 'dev' : 'production', resultsText());
const goals = sections.flatMap((section) => section.goals);
if (!flags.quick) log(`${goals.filter(reached).length} of ${goals.length} goals reached`);

/** Keeps the part of the other server as it is. */
async function writeResults(part: keyof typeof PARTS, text: string): Promise<void> {
  const file = fileURLToPath(new URL('./results.md', import.meta.url));
  const before = await readFile(file, 'utf8');
  const at = before.indexOf(PARTS.production);
  const [dev, production] = at < 0 ? [before, ''] : [before.slice(0, at), before.slice(at)];
  await writeFile(file, part === 'dev' ? text + production : dev + text);
}

function resultsText(): string {
  const isDev = flags.server === undefined;
  return [
    isDev ? PARTS.dev : PARTS.production,
    '',
    ...(isDev ? INTRODUCTION : []),
    ...sections.map((section) => sectionText(section, isDev ? 2 : 3)),
  ].join('\n');
}
