/** Serves guarded calls: begins one, waits for its decision, records its end. */
import { createNotifier } from '#api/notifier.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { isReachable } from '#api/found.ts';
import { serveResource } from '#api/serve-resource.ts';
import type { Caller } from '#api/server/auth.ts';
import { readCreatedPage } from '#api/server/pages.ts';
import { formPlace } from '#activities/tool-call/call-outside.ts';
import { Failure } from '#domain/errors.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import { storableText } from '#domain/text/storable-text.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { beginCall } from './begin-call.ts';
import { decisionOf, reasonOf } from './call-decision.ts';
import { questionStart } from './question-start.ts';
import { guardedCalls } from './resource.ts';
import { endGuardedCall, findGuardedCall, type GuardedCallRow, listGuardedCalls } from './store.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const find = async (caller: Caller, id: string): Promise<GuardedCallRow | undefined> => {
    const row = await findGuardedCall(forTenant(deps.pool, caller.tenant), id);
    return row && isReachable(caller.confinedTo, row.user_id) ? row : undefined;
  };

  serveResource(app, guardedCalls, {
    listGuardedCalls: ({ caller, db, query: { limit, after, cursor, ...filter } }) =>
      readCreatedPage(
        { limit, after, cursor },
        (max, end) => listGuardedCalls(db, caller.confinedTo, filter, max, end),
        showCall,
      ),
    async getGuardedCall({ caller, db, params, query, request }) {
      const row = await find(caller, params.id);
      return row && showCall(await untilDecided(deps, db, row, query.wait, request.signal));
    },
    async beginGuardedCall({ caller, tenant, db, params: { id }, query, body, request }) {
      const known = await findGuardedCall(db, id);
      if (known && !isReachable(caller.confinedTo, known.user_id)) return undefined;
      const started = await beginCall(deps, caller, db, id, body);
      // Each time, so that a question whose workflow was not started, or was lost, is asked.
      const start = questionStart(tenant, started);
      if (start) await deps.temporal.start(start);
      const row = await untilDecided(deps, db, started, query.wait, request.signal);
      const { question } = row;
      const answer = question?.status === 'responded' ? (question.note ?? '') : null;
      return { ...showCall(row), answer, edited_args: editedArgs(deps, tenant, row) };
    },
    async endGuardedCall({ caller, tenant, db, params, body: { outcome, code, text } }) {
      const row = await find(caller, params.id);
      if (!row) return undefined;
      if (row.outcome) return showCall(row);
      if (outcome !== 'not_run' && decisionOf(row) !== 'allowed')
        throw new Failure('Conflict', `The call was not allowed to run: it is ${decisionOf(row)}`);
      const scrubber = await deps.secrets.vault.scrubberOf(tenant);
      const hide = (words: string | undefined) =>
        words === undefined ? undefined : storableText(scrubber.text(words));
      await endGuardedCall(db, row.id, { outcome, code: hide(code), text: hide(text) });
      if (row.question?.status === 'pending' && row.approval_id)
        await deps.temporal.cancel(approvalWorkflowId(row.approval_id));
      const ended = await findGuardedCall(db, row.id);
      return ended && showCall(ended);
    },
  });
}

/** The call when it does not wait for a person any more, or when the seconds are over. */
async function untilDecided(
  { feed }: Pick<ApiDeps, 'feed'>,
  db: TenantDb,
  first: GuardedCallRow,
  seconds: number,
  signal: AbortSignal,
): Promise<GuardedCallRow> {
  const deadline = Date.now() + seconds * 1000;
  const bell = createNotifier();
  const unsubscribe = feed.subscribe(db.tenant, first.session_key, () => bell.ring());
  signal.addEventListener('abort', bell.ring);
  try {
    let row = first;
    while (decisionOf(row) === 'waiting' && Date.now() < deadline && !signal.aborted) {
      // The row is read once more after the subscription, and then whenever the feed has something.
      const read = await findGuardedCall(db, row.id);
      if (!read) return row;
      row = read;
      if (decisionOf(row) === 'waiting') await bell.wait(Math.max(0, deadline - Date.now()));
    }
    return (decisionOf(row) === 'waiting' && (await findGuardedCall(db, row.id))) || row;
  } finally {
    signal.removeEventListener('abort', bell.ring);
    unsubscribe();
  }
}

/** The arguments that a person has put in place of the call's; null when nobody has. */
function editedArgs(
  { secrets }: ApiDeps,
  tenant: string,
  { question, digest, approval_id }: GuardedCallRow,
): Readonly<Record<string, unknown>> | null {
  if (question?.status !== 'approved' || question.digest === digest) return null;
  if (question.sealed === null) return question.args;
  const place = formPlace(tenant, approval_id ?? '');
  return JSON.parse(secrets.sealer.open(question.sealed.replaceAll('\n', ''), place));
}

function showCall(row: GuardedCallRow) {
  const { agent_key: agent, user_id: user } = row;
  return { ...row, agent, user, decision: decisionOf(row), reason: reasonOf(row) };
}
