/**
 * A durable pause: the workflow of the `wait` tool, and the smallest example of a child that a tool starts through the
 * loop.
 */
import { setCurrentDetails, sleep } from '@temporalio/workflow';
import { inputProblem } from '#domain/turn/start-problem.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

/** `ms` from 100 to 300,000. Resolves with the text that the model reads. */
export async function wait(input: {
  readonly ms: number;
  readonly reason?: string;
}): Promise<{ ok: true; text: string }> {
  refuseWrongStart(inputProblem('wait', input, [], ['ms']));
  setCurrentDetails(`Waits ${input.ms / 1000} s${input.reason ? `: ${input.reason}` : ''}`);
  await sleep(input.ms);
  return { ok: true, text: `Waited ${input.ms / 1000} s.` };
}
