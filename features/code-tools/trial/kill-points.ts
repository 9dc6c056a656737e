/** Kills a tool at each point of a run, and judges what a crash there leaves. */
import { type Kill, runTrial, type Trial, type TrialOutcome } from './run-trial.ts';

export interface Verdict {
  readonly point: string;
  readonly input: unknown;
  readonly outcome: TrialOutcome;
  /** What is wrong with the tool, or what is to be known about the outcome; empty otherwise. */
  readonly note: string;
  readonly isWrong: boolean;
}

/** A shorter run is over before a kill reaches it. */
const MIN_MS = 20;
const PARTS = [0.25, 0.5, 0.75];

/** `inputOf` gets the number of the run, from 1, so that each can be about something else. */
export async function* tryKills(
  trial: Omit<Trial, 'input' | 'kill'>,
  inputOf: (number: number) => unknown,
): AsyncGenerator<Verdict> {
  let number = 0;
  const next = async (point: string, kill?: Kill): Promise<Verdict> => {
    number += 1;
    const input = inputOf(number);
    const outcome = await runTrial({ ...trial, input, ...(kill !== undefined && { kill }) });
    return { point, input, outcome, ...judge(trial.tool, outcome) };
  };
  const whole = await next('not killed');
  yield whole;
  yield await next('killed before it runs', 'before');
  const { ms } = whole.outcome;
  if (ms >= MIN_MS)
    for (const part of PARTS) yield await next(`killed at ${Math.round(part * 100)} % of its run`, ms * part);
  yield await next('killed after it has run', 'after');
}

function judge(
  { definition: { replay } }: Trial['tool'],
  { result, ended }: TrialOutcome,
): Pick<Verdict, 'note' | 'isWrong'> {
  if (replay === 'once' && ended > 1)
    return {
      isWrong: true,
      note: `it ran to its end ${ended} times: its probe returned nothing although the killed run had ended`,
    };
  if (!result.ok && result.code === 'OutcomeUnknown')
    return { isWrong: false, note: 'nobody can know; a probe would find out' };
  if (!result.ok) return { isWrong: true, note: 'the call failed' };
  return {
    isWrong: false,
    note: ended > 1 ? `it ran to its end ${ended} times, as replay: '${replay}' allows` : '',
  };
}
