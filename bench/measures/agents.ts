/**
 * Measures agents that start agents, compete for tasks and work as a team, beside the same by hand: children, updates,
 * a row each.
 */
import type { WorkflowHandle } from '@temporalio/client';
import { CLAIMERS, createBareAgents, createOurAgents, type ManyAgents, TEAM_SIZE } from '../many-agents.ts';
import { modelCallsOf } from '../model-calls.ts';
import { type Bench, manyAtOnce, type Measure } from '../measure.ts';
import { type Goal, ratioOf, shown, spreadOf } from '../report.ts';

/** The goal for all of it, as a multiple of the time by hand. */
const LIMIT = 1.3;
const AT_ONCE = 16;

/** Numbers of one round by what they are; a rate is one whose name ends in `a second`. */
type Round = Readonly<Record<string, number>>;

export const agents: Measure = async (bench) => {
  const sides = [createBareAgents(bench.stack), await createOurAgents(bench)];
  const rounds = bench.quick ? 1 : 7;
  const tasksEach = bench.quick ? 1 : 4;
  bench.log(`${rounds} rounds of a spawn, of claims and of a team of ${TEAM_SIZE}`);
  // A first round fills the caches of code, connections and statements.
  for (const side of sides) await oneRound(bench, side, 1);
  const found: Record<ManyAgents['name'], Round[]> = { bare: [], TempoClaw: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const side of round % 2 === 0 ? sides : sides.toReversed())
      found[side.name].push(await oneRound(bench, side, tasksEach));
  const names = Object.keys(found.bare[0] ?? {});
  const table = names.map((name) => compare(name, found));
  return {
    name: 'agents',
    title: 'Many agents',
    how: `By hand: loop B with a child workflow whose conversation is its child; a workflow with a claim update; a lead with a child workflow for each task, which takes updates and whose turn is its child; rows of children and tasks by local activities. Spawn by the times in the histories: from the end of the parent's model call to the beginning of the child's first one, and from the beginning of the one to the end of the other, with all that they record; ours makes the child's within its first workflow task, since the parent's model had answered at once. Claims: ${CLAIMERS.length} members for one task at once, one of whom gets it; and one claim for each of ${CLAIMERS.length} tasks, ${AT_ONCE} at once. Team: ${tasksEach * TEAM_SIZE} tasks, each a turn with one \`datetime\`, from the lead's message until all rows say completed; the lead looks at its board, then gives them all in one answer.`,
    columns: ['', 'bare', 'TempoClaw', 'ratio'],
    rows: table.map(({ row }) => row),
    goals: table.map(({ goal }) => goal),
  };
};

function compare(
  name: string,
  found: Readonly<Record<ManyAgents['name'], readonly Round[]>>,
): { row: string[]; goal: Goal } {
  const of = (side: ManyAgents['name']): number[] => found[side].map((round) => round[name] ?? Number.NaN);
  const ratio = ratioOf(of('TempoClaw'), of('bare'));
  const isRate = name.endsWith('a second');
  return {
    row: [name, shown(spreadOf(of('bare'))), shown(spreadOf(of('TempoClaw'))), shown(ratio)],
    goal: {
      what: `${name}, ratio to bare`,
      value: ratio.median,
      limit: isRate ? Number((1 / LIMIT).toFixed(2)) : LIMIT,
      kind: isRate ? 'min' : 'max',
    },
  };
}

async function oneRound(bench: Bench, side: ManyAgents, tasksEach: number): Promise<Round> {
  const { parent, child } = await modelCallsOf(bench.stack.client, await side.spawn());
  const race = await claimAll(side, 'one');
  const many = await claimAll(side, 'each');
  const teamMs = await side.team(tasksEach);
  return {
    'spawn to first model call, ms': child.began - parent.ended,
    'the same with both model calls, ms': child.ended - parent.began,
    'claim of one task, median ms': race.median,
    'claim of one task, p95 ms': race.p95,
    'claims of one task a second': race.rate,
    'claim of a task each, median ms': many.median,
    'claim of a task each, p95 ms': many.p95,
    'claims of a task each a second': many.rate,
    'tasks of a team a second': (tasksEach * TEAM_SIZE * 1000) / teamMs,
  };
}

/** All claimers claim one task at once, or each a task of its own. */
async function claimAll(
  side: ManyAgents,
  which: 'one' | 'each',
): Promise<{ readonly median: number; readonly p95: number; readonly rate: number }> {
  const tasks: WorkflowHandle[] = [];
  for (let n = 0; n < (which === 'one' ? 1 : CLAIMERS.length); n += 1) tasks.push(await side.openTask());
  const times: number[] = [];
  let winners = 0;
  const began = performance.now();
  await manyAtOnce(CLAIMERS.length, which === 'one' ? CLAIMERS.length : AT_ONCE, async (number) => {
    const task = tasks[(number - 1) % tasks.length];
    if (!task) throw new Error('there is no task to claim');
    const { ms, won } = await side.claim(task, CLAIMERS[number - 1] ?? '');
    times.push(ms);
    if (won) winners += 1;
  });
  const seconds = (performance.now() - began) / 1000;
  if (winners !== tasks.length) throw new Error(`${side.name}: ${winners} have ${tasks.length} tasks`);
  for (const task of tasks) await task.terminate('measured');
  const sorted = times.toSorted((a, b) => a - b);
  const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN;
  return { median: spreadOf(times).median, p95, rate: times.length / seconds };
}
