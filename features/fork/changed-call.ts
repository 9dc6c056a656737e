/** The answer of a recorded step with other arguments for one of its calls. */
import { realArgs } from '#activities/tool-call/plan-calls.ts';
import { fieldFailure } from '#domain/errors.ts';
import { readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { Sealer } from '#store/seal.ts';
import type { ForkInput } from './contract.ts';
import type { RequestedPoint } from './store/find-point.ts';

interface CallToChange {
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface StepCall extends CallToChange {
  readonly tool: string;
  readonly sealed: string | null;
}

/** Resolves with the call's step, at which the session is forked. @throws Failure NotFound, InvalidInput */
export async function changedCall(
  db: TenantDb,
  sealer: Sealer,
  session: string,
  { id, args }: CallToChange,
  named: Pick<RequestedPoint, 'turn' | 'step'>,
): Promise<{ readonly point: RequestedPoint; readonly answer: NonNullable<ForkInput['answer']> }> {
  const at = await readRow<{ turn: string; step: number; text: string | null }>(db)`
    select c.turn_id as turn, c.step, m.text from tool_calls c
    left join messages m on m.tenant_id = c.tenant_id and m.turn_id = c.turn_id and m.step = c.step and m.role = 'assistant'
    where c.tenant_id = ${db} and c.id = ${id} and c.session_key = ${session}`;
  if (!at) throw fieldFailure('NotFound', 'body/call/id', `there is no call ${id} in the session ${session}`);
  const { turn, step, text } = at;
  if ((named.turn ?? turn) !== turn || (named.step ?? step) !== step)
    throw fieldFailure(
      'InvalidInput',
      'body/call/id',
      `the call ${id} is of step ${step} of the turn ${turn}; leave out turn_id and step, or name these`,
    );
  const calls = await readRows<StepCall>(db)`
    select c.id, c.tool, c.args, translate(encode(c.args_sealed, 'base64'), E'\\n', '') as sealed from tool_calls c
    where c.tenant_id = ${db} and c.turn_id = ${turn} and c.step = ${step} order by c.index`;
  return {
    point: { session, turn, step },
    answer: {
      text: text ?? '',
      calls: calls.map((call) => ({
        name: call.tool,
        args: call.id === id ? args : realArgs(sealer, db.tenant, call),
      })),
    },
  };
}
