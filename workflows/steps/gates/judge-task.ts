/**
 * The gates of a team's task over submitted work (DE-6). They run beside the task's main function, which may end the
 * judging.
 */
import {
  ActivityFailure,
  CancellationScope,
  condition,
  isCancellation,
  TemporalFailure,
} from '@temporalio/workflow';
import type { GateVerdict, ShownGate } from '#domain/gate/gate.ts';
import type { Judgement, TaskJudging } from '#domain/team/task-judging.ts';
import type { TeamTaskInput } from '#domain/team/team-task.ts';
import { judge } from './run-gates.ts';

export interface RunningJudgement {
  readonly of: string;
  /** Set when everything is judged. */
  readonly end: () => Judgement | undefined;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** Starts immediately and never throws. */
export function startJudging(
  { tenant, team, number }: TeamTaskInput,
  subject: string,
  { of, gates, from }: TaskJudging,
): RunningJudgement {
  const scope = new CancellationScope();
  let end: Judgement | undefined;
  const work = {
    tenant,
    label: `#${number} ${subject}`,
    // Stopped by cancelling; each gate has its own time limit.
    limits: { deadline: Number.POSITIVE_INFINITY, isCancelRequested: () => false, cancelRequest: () => ({}) },
  };

  async function run(): Promise<Judgement> {
    for (const gate of gates.filter(({ index }) => index >= from.gate)) {
      const retries = gate.index === from.gate ? from.retries : 0;
      const run = {
        tenant,
        kind: 'task',
        owner_id: of,
        gate: gate.index,
        attempt: retries,
        retries,
      } as const;
      const { step, preview } = await verdictOf(gate, () =>
        judge(work, gate, { ...run, task: { team, number } }),
      );
      const { index, name, max_retries } = gate;
      if (step === 'retry' || step === 'block')
        return { of, failed: { step, gate: index, name, retries, max_retries, preview } };
    }
    return { of };
  }

  void scope.run(run).then(
    (judgement) => (end = judgement),
    (error: unknown) => {
      if (!(error instanceof TemporalFailure)) throw error;
      // Only `stop` causes this: nobody reads the result.
      end = { of };
    },
  );

  return {
    of,
    end: () => end,
    async stop() {
      scope.cancel();
      await condition(() => end !== undefined);
    },
  };
}

/** A gate that cannot run is broken: it blocks when it was configured to block. */
async function verdictOf(
  { block_on_failure }: ShownGate,
  ask: () => Promise<GateVerdict>,
): Promise<Pick<GateVerdict, 'step' | 'preview'>> {
  try {
    return await ask();
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    const preview = (error.cause?.message ?? error.message).slice(0, 300);
    return { step: block_on_failure ? 'block' : 'warn', preview };
  }
}
