/**
 * A model call besides the turn's own (DU-7): it reserves the turn's budgets before the call, settles its real use, and
 * is recorded as the turn's use.
 */
import { exceededWords } from '#domain/budget/ask-for-more.ts';
import { createMeter } from '#domain/budget/meter.ts';
import { ModelError, type Usage } from '#domain/model/model.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import type { Models } from '../model/model-catalog.ts';
import { recordedWithin } from '../tool-call/until-recorded.ts';
import type { BudgetGuard } from './budget-guard.ts';
import { randomUUID } from 'node:crypto';

export interface BookDeps {
  readonly models: Pick<Models, 'cost'>;
  readonly budgets: Pick<BudgetGuard, 'around' | 'noteUses'>;
}

export interface Booking {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
  /** Identifies the reservation, which lasts until the turn's end if the worker dies. */
  readonly holder: string;
  readonly attempt?: number;
  /** The greatest use that is expected of the first model. */
  readonly ref: string;
  readonly usage: Usage;
}

const NOTE_MS = 10_000;

/** `exceeded`: why no model was called. Errors of `ask` are passed on; for a ModelError the recorded use is settled. */
export async function bookModel<Result>(
  { models, budgets }: BookDeps,
  { attempt = 1, ref, usage, ...booking }: Booking,
  ask: (note: (use: ModelUse) => void) => Promise<Result>,
): Promise<{ readonly result: Result } | { readonly exceeded: string }> {
  const uses: ModelUse[] = [];
  const meter = createMeter();
  const note = (use: ModelUse): void => {
    uses.push({ once: randomUUID(), ...use });
    meter.add(use.usage, use.usd);
  };
  const expected = { tokens: usage.inputTokens + usage.outputTokens, usd: models.cost(ref, usage)?.usd };
  const { tenant, session, turn } = booking;
  const noted = () => budgets.noteUses({ tenant, session, turn }, uses);
  const done = await budgets
    .around(
      { ...booking, owner: turn, expected },
      attempt,
      () => ask(note).then((input) => ({ result: input }), errorOfModel),
      () => ({ ...meter.spent(0), calls: uses.length }),
    )
    .finally(() => (uses.length > 0 ? recordedWithin(NOTE_MS, noted) : undefined));
  if ('exceeded' in done) return { exceeded: exceededWords(done.exceeded) };
  if ('error' in done.result) throw done.result.error;
  return done.result;
}

function errorOfModel(error: unknown): { readonly error: ModelError } {
  if (error instanceof ModelError) return { error };
  throw error;
}
