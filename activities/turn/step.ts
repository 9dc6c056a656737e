/** One model call as its phases see it: load, admit, generate, plan and record (call-model.ts). */
import type { AgentConfig } from '#domain/agent.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import type { CallModelInput } from '#domain/turn/turn-activities.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { StepBasis } from '#store/turns/step-basis.ts';
import type { Attempt } from '../attempt.ts';
import type { Transcript } from '../prompt/transcript-cache.ts';

/** `readAt` (performance.now): when its rules were read. */
export type ReadBasis = StepBasis & { readonly readAt: number };

/** The input of the call and its basis. `transcript` contains the rows that this worker did not know. */
export interface LoadedStep extends CallModelInput, ReadBasis {
  /** The agent as its turn has it. */
  readonly agent: AgentConfig;
  /** The agent's tools, by their canonical names. */
  readonly catalog: Catalog;
  readonly attempt: Attempt;
  /** Position of the last row of the transcript that this worker knows. */
  readonly knownUpTo: number;
}

/** Its model may be called, or its message lists the calls. `transcript` is complete. */
export interface Step extends Omit<LoadedStep, 'transcript'> {
  readonly transcript: Transcript;
  /** Position of the last row that the answer is based on. */
  readonly readUpTo: number;
  /** Model uses of hooks on its prompts. */
  readonly hookUses: readonly ModelUse[];
}

/** The database's clock, in milliseconds since 1970. */
export function databaseNow({ now, readAt }: Pick<ReadBasis, 'now' | 'readAt'>): number {
  return now + (performance.now() - readAt);
}
