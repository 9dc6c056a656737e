/** What is given with a request to fork, which is sealed in its row, and the answer that its turn takes from there. */
import type { ForkAnswer } from '#activities/turn/generate-answer.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Sealer } from '#store/seal.ts';
import type { ForkInput } from './contract.ts';
import { findFork, type ForkRow } from './store/fork-store.ts';

type SealedInput = Pick<ForkRow, 'session_key' | 'sealed'>;

function inputPlace(tenant: string, session: string): string {
  return `${tenant}/forks/${session}`;
}

export function openInput(sealer: Sealer, tenant: string, { session_key, sealed }: SealedInput): ForkInput {
  return sealed === null
    ? {}
    : (JSON.parse(sealer.open(sealed, inputPlace(tenant, session_key))) as ForkInput);
}

/** Null when nothing is given. */
export function sealInput(sealer: Sealer, tenant: string, session: string, input: ForkInput): string | null {
  const isSealed = input.message !== undefined || input.answer !== undefined;
  return isSealed ? sealer.seal(JSON.stringify(input), inputPlace(tenant, session)) : null;
}

/** Asked only at the step that the turn's context names (ForkContext.answer_step). */
export function createForkAnswer(pool: Pool, sealer: Sealer): ForkAnswer {
  return async ({ tenant, session, turn, step }) => {
    const row = await findFork(forTenant(pool, tenant), session);
    if (row?.turn_id !== turn || row.from_step !== step) return undefined;
    const { answer } = openInput(sealer, tenant, row);
    if (!answer) return undefined;
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
    return { ...answer, usage, finish: answer.calls.length > 0 ? 'calls' : 'stop' };
  };
}
