/** What a model was used for without an answer in a transcript; it is paid for all the same (DU-7). */
import { type ModelError, type Usage } from './model.ts';
import { costsNothing } from './budget/meter.ts';

/** `memory`: of keeping what was said in conversations. `reading`: of a tool that reads media. `direct`: of a request in a body of an agent's own. `unused`: an answer that came when another attempt had given one. `forgotten`: sums of answers whose transcript is gone. */
export const MODEL_USE_KINDS = [
  'summary',
  'failed',
  'unused',
  'embedding',
  'knowledge',
  'memory',
  'reading',
  'media',
  'hook',
  'sampling',
  'direct',
  'forgotten',
] as const;

export interface ModelUse {
  readonly kind: (typeof MODEL_USE_KINDS)[number];
  /** The reference: `provider/model`. */
  readonly model: string;
  readonly usage: Usage;
  /** Absent when the price is not known. */
  readonly usd?: number;
  /** Names what was paid for once, though it may be noted again. */
  readonly once?: string;
}

/** Whether a provider has read the prompt, though not a word came back: a connection that could not be made was not paid for. */
export function wasRead({ code }: ModelError): boolean {
  return code !== 'Unreachable' && !costsNothing(code);
}
