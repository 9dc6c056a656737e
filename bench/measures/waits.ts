/** Measures what TempoClaw adds to a turn whose model and tools take their usual time. */
import { timeTurn } from '../contender.ts';
import { inRounds, type Measure } from '../measure.ts';
import { shown, spreadOf } from '../report.ts';

const MODEL_MS = 300;
const TOOL_MS = 20;

export const waits: Measure = async (bench) => {
  const steps = bench.quick ? 2 : 10;
  const sum = (steps + 1) * MODEL_MS + steps * TOOL_MS;
  const work = {
    steps,
    tool: 'exec',
    command: `sleep ${TOOL_MS / 1000}`,
    modelMs: MODEL_MS,
  } as const;
  bench.log(`${steps} steps with a model of ${MODEL_MS} ms and tools of ${TOOL_MS} ms`);
  const values = await inRounds(bench, bench.quick ? 1 : 5, (contender) => timeTurn(contender, work));
  const ratio = spreadOf(values.TempoClaw.map((ms) => ms / sum));
  return {
    name: 'waits',
    title: `A model of ${MODEL_MS} ms and tools of ${TOOL_MS} ms`,
    how: `A turn of ${steps} steps (\`exec\` of \`${work.command}\`); the waits alone are ${sum} ms.`,
    columns: ['', 'turn ms', 'over the sum of waits'],
    rows: Object.entries(values).map(([name, list]) => [
      name,
      shown(spreadOf(list)),
      shown(spreadOf(list.map((ms) => ms / sum))),
    ]),
    goals: [{ what: 'turn over the sum of waits', value: ratio.median, limit: 1.08, kind: 'max' }],
  };
};
