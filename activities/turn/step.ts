/** One model call as its phases see it: load, admit, generate, plan and record (call-model.ts). */
import type { AgentConfig } from '#domain/agent.ts';
import type { ModelUse } from '#domain/model-use.ts';
import type { CallModelInput } from '#domain/turn.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { StepBasis } from '#store/step-basis.ts';
import type { Attempt } from '../attempt.ts';
import type { Transcript } from '../prompt/transcript-cache.ts';

/** `readAt` (performance.now): when its rules were read. */
export type ReadBasis = StepBasis & { readonly readAt: number };

/** What the call is for and what it goes by. `transcript` is the rows that this worker has not known. */
export interface LoadedStep extends CallModelInput, ReadBasis {
  /** As its turn has it. */
  readonly agent: AgentConfig;
  /** The agent's tools, by their own names. */
  readonly catalog: Catalog;
  readonly attempt: Attempt;
  /** Position of the last row of the transcript that this worker has known. */
  readonly knownUpTo: number;
}

/** Its model may be asked, or its message names the calls itself. `transcript` is all of it. */
export interface Step extends Omit<LoadedStep, 'transcript'> {
  readonly transcript: Transcript;
  /** Position of the last row that the answer is made from. */
  readonly readUpTo: number;
  /** What hooks on its prompts used models for. */
  readonly hookUses: readonly ModelUse[];
}

/** By the database's clock, in milliseconds since 1970. */
export function databaseNow({ now, readAt }: Pick<ReadBasis, 'now' | 'readAt'>): number {
  return now + (performance.now() - readAt);
}
