/** PO-5: the addresses that a call may contain without being new. */
import { addressesIn, addressesOf, withoutFragment } from '#domain/policy/addresses.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import type { CallRules, CallToJudge } from '#policy/call-rules.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { readAddressSources } from '#store/turns/session-addresses.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export interface AddressQuestion {
  readonly tenant: string;
  readonly session: string;
  readonly user: string | null;
  readonly used: UsedTools;
}

/**
 * For judging calls with these arguments. Empty when nothing was read from outside or the call contains no address:
 * then no rule uses it.
 */
export type KnownAddresses = (
  question: AddressQuestion,
  args: readonly unknown[],
) => Promise<Pick<CallToJudge, 'addresses'>>;

export function createKnownAddresses(pool: Pool, rules: Pick<CallRules, 'outside'>): KnownAddresses {
  return async ({ tenant, session, user, used }, args) => {
    if (Object.keys(rules.outside(used)).length === 0 || addressesOf(args).length === 0) return {};
    const { texts, calls } = await readAddressSources(forTenant(pool, tenant), session, user);
    // Only arguments that were judged as addresses: a file may contain any text.
    const requests = calls.filter(({ tool }) => Object.keys(rules.outside({ [tool]: '' })).length > 0);
    const named = requests
      .flatMap((call) => addressesOf(call.args))
      .flatMap((each) => [each, withoutFragment(each)]);
    return { addresses: new Set([...texts.flatMap(addressesIn), ...named]) };
  };
}
