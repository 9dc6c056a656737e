/** DU-1: a worker without the fast path runs what is asked of it, and holds up no workflow task with a model. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { InlineModelInput } from '../contract.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import { declineInline } from '../activities/decline-inline.ts';
import { createPlainEngine } from '#activities/turn/step-engine.ts';

const INPUT = { tenant: 't', session: 's', turn: 'turn_1', step: 1, messages: [] };

function ask(input: InlineModelInput, info: { isLocal: boolean; attempt: number }) {
  const numbers: number[] = [];
  const call = declineInline(createPlainEngine({} as TurnLedger)).modelActivity(
    async (_input, { number }) => {
      numbers.push(number);
      return { kind: 'limit', code: 'IterationLimit', message: 'asked' };
    },
  );
  const env = new MockActivityEnvironment(info);
  return env
    .run<[InlineModelInput], unknown, typeof call>(call, input)
    .then((result) => ({ result, numbers }));
}

describe('DU-1 a worker without the fast path', () => {
  it('leaves a model that is asked within a workflow task to the activity that comes next', async () => {
    const { result, numbers } = await ask(INPUT, { isLocal: true, attempt: 1 });
    assert.deepEqual([result, numbers], [{ kind: 'continues' }, []]);
  });

  it('counts the attempts that other workers made before its own', async () => {
    const { numbers } = await ask({ ...INPUT, priorAttempts: 2 }, { isLocal: false, attempt: 1 });
    assert.deepEqual(numbers, [3]);
  });
});
