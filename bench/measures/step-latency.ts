/** Measures how long a step takes: a model call that does not wait and one tool call, in turns of several lengths. */
import { timeTurn, type Work } from '../contender.ts';
import { type Bench, inRounds, type Measure } from '../measure.ts';
import { type Goal, ratioOf, type Section, shown, spreadOf } from '../report.ts';

const LENGTHS = [5, 20, 100];

export const shortSteps: Measure = (bench) =>
  latency(bench, {
    name: 'short',
    title: 'Latency per step, short tool',
    tool: 'datetime',
    goal: 0.7,
    rounds: 9,
    how: 'Turn time over its number of steps; a step is one model call that does not wait and one `datetime`.',
  });

export const longSteps: Measure = (bench) =>
  latency(bench, {
    name: 'long',
    title: 'Latency per step, long tool',
    tool: 'exec',
    goal: 1.1,
    rounds: 7,
    how: 'The same with `exec` of `true`: a shell process, a regular activity on all sides.',
  });

interface StepRequest {
  readonly name: string;
  readonly title: string;
  readonly how: string;
  readonly tool: Work['tool'];
  readonly goal: number;
  readonly rounds: number;
}

async function latency(bench: Bench, request: StepRequest): Promise<Section> {
  const rows: string[][] = [];
  const goals: Goal[] = [];
  for (const steps of bench.quick ? [5] : LENGTHS) {
    const rounds = bench.quick ? 1 : Math.max(3, Math.round(request.rounds / (steps > 50 ? 2 : 1)));
    bench.log(`${steps} steps of ${request.tool}, ${rounds} rounds`);
    const values = await inRounds(
      bench,
      rounds,
      async (contender) => (await timeTurn(contender, { steps, tool: request.tool })) / steps,
    );
    const ratio = ratioOf(values.TempoClaw, values['bare A']);
    const ratioB = ratioOf(values.TempoClaw, values['bare B']);
    rows.push([
      String(steps),
      ...[values['bare A'], values['bare B'], values.TempoClaw].map((list) => shown(spreadOf(list))),
      shown(ratio),
      shown(ratioB),
    ]);
    goals.push({
      what: `ratio to bare A, ${steps} steps`,
      value: ratio.median,
      limit: request.goal,
      kind: 'max',
    });
  }
  return {
    name: request.name,
    title: request.title,
    how: request.how,
    columns: ['steps', 'bare A ms', 'bare B ms', 'TempoClaw ms', 'ratio to A', 'ratio to B'],
    rows,
    goals,
  };
}
