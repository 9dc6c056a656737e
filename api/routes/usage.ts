/** Serves which models were used and what they cost, summed as the caller requests (DU-7). */
import { readUsage } from '#store/budgets/usage-store.ts';
import { Failure, fieldFailure } from '#domain/errors.ts';
import { MAX_DAYS, usage } from '#domain/resource/usage.ts';
import type { Api } from '../deps.ts';
import { serveResource } from '../serve-resource.ts';

const MAX_ROWS = 1_000;
const USUAL_DAYS = 30;
const DAY_MS = 86_400_000;

export function addRoutes(app: Api): void {
  serveResource(app, usage, {
    async getUsage({ db, caller, query: { by, agent, user, session, model, ...days } }) {
      const { from, to } = daysOf(days, Date.now());
      const filter = { from, to, agent, user, session, model, confinedTo: caller.confinedTo };
      const rows = await readUsage(db, by, filter, MAX_ROWS + 1);
      return { from, to, data: rows.slice(0, MAX_ROWS), truncated: rows.length > MAX_ROWS };
    },
  });
}

function daysOf(
  input: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): { from: string; to: string } {
  const to = input.to ?? dayOf(now);
  const from = input.from ?? dayOf(Date.parse(to) - (USUAL_DAYS - 1) * DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw refused('must not be after `to`');
  if (days > MAX_DAYS) throw refused(`at most ${MAX_DAYS} days can be requested`);
  return { from, to };
}

function refused(message: string): Failure {
  return fieldFailure('InvalidInput', 'query/from', message);
}

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
