/** Decides many approvals by one request. Each is decided separately and has its own outcome. */
import type { z } from 'zod';
import { findVisibleApproval, listApprovals } from '#store/approvals/approval-store.ts';
import { FAILURES, Failure } from '#domain/errors.ts';
import { isMessageId } from '#domain/ids.ts';
import { type bulkDecisionSchema, type bulkReceiptSchema, MAX_BULK } from '#domain/schema/approval.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { readApprovalFilter } from './approval-filter.ts';
import type { Caller } from '../server/auth.ts';
import { decideAs } from './decide-as.ts';
import type { ApiDeps } from '../deps.ts';

type BulkDecision = z.output<typeof bulkDecisionSchema>;
type Outcome = z.input<typeof bulkReceiptSchema>['data'][number];

interface Meant {
  readonly id: string;
  readonly digest?: string;
}

/** How many workflows one request sends decisions to at once. */
const AT_ONCE = 8;

/** Never throws for a single approval. Repeating it is safe, because repeating each decision is safe. */
export async function decideMany(
  deps: ApiDeps,
  caller: Caller,
  { ids, filter, ...body }: BulkDecision,
): Promise<z.input<typeof bulkReceiptSchema>> {
  const found =
    filter === undefined
      ? { meant: uniqueIds(ids ?? []), hasMore: false }
      : await matching(deps, caller, filter);
  const outcomes = new Map<string, Outcome>();
  const waiting = [...found.meant];
  let away = false;
  const work = async (): Promise<void> => {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      const outcome = away ? unavailable(one.id) : await decideOne(deps, caller, one, body);
      // A service that is away for one is away for all, so the rest does not wait for it.
      away ||= outcome.error?.code === 'Unavailable';
      outcomes.set(one.id, outcome);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { data: found.meant.flatMap(({ id }) => outcomes.get(id) ?? []), has_more: found.hasMore };
}

async function matching(
  deps: ApiDeps,
  caller: Caller,
  filter: NonNullable<BulkDecision['filter']>,
): Promise<{ meant: readonly Meant[]; hasMore: boolean }> {
  const rows = await listApprovals(
    forTenant(deps.pool, caller.tenant),
    caller,
    { ...readApprovalFilter(filter), status: 'pending', mine: true },
    MAX_BULK + 1,
    undefined,
  );
  // Decides what the filter found, even if it changes in the meantime.
  const meant = rows.slice(0, MAX_BULK).map(({ id, digest }) => ({ id, digest }));
  return { meant, hasMore: rows.length > MAX_BULK };
}

function uniqueIds(ids: NonNullable<BulkDecision['ids']>): readonly Meant[] {
  const meant = ids.map((one): Meant => (typeof one === 'string' ? { id: one } : one));
  return [...new Map(meant.map((one) => [one.id, one])).values()];
}

async function decideOne(
  deps: ApiDeps,
  caller: Caller,
  { id, digest }: Meant,
  body: Omit<BulkDecision, 'ids' | 'filter'>,
): Promise<Outcome> {
  try {
    const row = isMessageId(id)
      ? await findVisibleApproval(forTenant(deps.pool, caller.tenant), caller, id)
      : undefined;
    if (!row) throw new Failure('NotFound', 'There is no approval with this id');
    const receipt = await decideAs(deps, caller, row, digest === undefined ? body : { ...body, digest });
    return { id, ok: true, receipt };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return {
      id,
      ok: false,
      error: { code: error.type, status: FAILURES[error.type].status, detail: error.message },
    };
  }
}

function unavailable(id: string): Outcome {
  const detail = 'Not tried, since the one before was not taken in time; try again';
  return { id, ok: false, error: { code: 'Unavailable', status: FAILURES.Unavailable.status, detail } };
}
