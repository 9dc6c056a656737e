/**
 * AP-2: a decision while the approval's workflow does not exist yet, or no worker runs it, counts or is refused with
 * "again".
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isGrpcServiceError } from '@temporalio/client';
import { startLiveWorker } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const APPROVALS = 24;

/** A code of gRPC. */
const NOT_FOUND = 5;

describe('AP-2 decisions before there is a workflow', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  interface Asked {
    readonly id: string;
    readonly session_key: string;
    readonly status: string;
    readonly decided_by: string | null;
  }
  const rows = async (): Promise<Asked[]> =>
    (
      await stack.pool.query<Asked>(
        'select id, session_key, status, decided_by from approvals where tenant_id = $1 order by id',
        [stack.tenant],
      )
    ).rows;
  const handleOf = (id: string) => stack.worker.client.workflow.getHandle(`approval/${id}`);

  /** Whether it counts; false when the sender must retry. */
  const ways: readonly ((id: string) => Promise<boolean>)[] = [
    async (id) => {
      const body = { decision: 'approve' };
      const answer = await stack.ask('POST', `/v1/approvals/${id}/decision`, { body });
      if (answer.status !== 200) {
        assert.equal(answer.status, 503, JSON.stringify(answer.body));
        assert.ok(Number(answer.headers.get('retry-after')) >= 1);
      }
      return answer.status === 200;
    },
    (id) =>
      handleOf(id)
        .signal('decide', { decision: 'approve', by: 'signal' })
        .then(() => true, refusedAsMissing),
    (id) =>
      stack.worker.client
        .withDeadline(Date.now() + 15_000, () =>
          handleOf(id).executeUpdate('decide', { args: [{ decision: 'approve', by: 'update' }] }),
        )
        .then(() => true, refusedAsMissing),
  ];

  function refusedAsMissing(error: unknown): boolean {
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return false;
    if (
      error instanceof Error &&
      /deadline|timed? ?out|cancel/i.test(`${error.name} ${error.message} ${String(error.cause)}`)
    )
      return false;
    const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
    if (code === NOT_FOUND) return false;
    throw error;
  }

  it('each counts or is to be sent again, and none waits for ever', async (t) => {
    const turns = Promise.all(
      Array.from({ length: APPROVALS }, (_, n) =>
        stack.worker.until('the message to be taken', () =>
          stack.worker.say(`early-${n}`, `poke {"note":"early-${n}"}`, { id: `early-${n}` }),
        ),
      ),
    );
    await stack.worker.until('questions', async () => ((await rows()).length >= 9 ? true : undefined));
    await stack.worker.shutDown();
    const requests = await rows();
    const there = await Promise.all(
      requests.map(({ id }) =>
        handleOf(id)
          .describe()
          .then(() => true, refusedAsMissing),
      ),
    );
    t.diagnostic(`${requests.length} asked, ${there.filter((is) => !is).length} of them without a workflow`);
    const first = await Promise.all(
      requests.map(async ({ id }, n) => ({ n, id, counts: await ways[n % 3]?.(id) })),
    );
    const counted = [0, 1, 2].map((way) => first.filter(({ n, counts }) => n % 3 === way && counts).length);
    t.diagnostic(`counted at once, by HTTP, update and signal: ${counted.join(', ')}`);
    const later = await startLiveWorker({ beside: stack.worker });
    try {
      const isOpen = (one: Asked): boolean => one.status === 'pending';
      for (const { id, n } of first.filter(({ counts }) => !counts))
        await stack.worker.until(`${id} to take a decision`, async () => {
          if (await ways[n % 3]?.(id)) return true;
          // An update whose sender gave up may have been accepted all the same, and its workflow is over.
          return n % 3 > 0 && (await rows()).some((row) => row.id === id && !isOpen(row)) ? true : undefined;
        });
      await stack.worker.until('all that counts to be decided', async () => {
        const open = new Set((await rows()).filter(isOpen).map(({ id }) => id));
        return first.every(({ id }) => !open.has(id)) ? true : undefined;
      });
      await stack.worker.until('the others to be asked about', async () =>
        (await rows()).length === APPROVALS ? true : undefined,
      );
      for (const { id } of (await rows()).filter(isOpen)) {
        await stack.worker.until('a decision', async () => ((await ways[0]?.(id)) ? true : undefined));
      }
      for (const { turn_id } of await turns) assert.equal((await later.ended(turn_id)).status, 'completed');
      const effects = [...stack.worker.probes.effects, ...later.probes.effects].map(({ note }) => note);
      assert.equal(effects.length, APPROVALS);
      assert.equal(new Set(effects).size, APPROVALS);
    } finally {
      await later.close();
    }
  });
});
