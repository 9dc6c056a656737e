/** Checks the agents that a request names, because a binding to an unknown agent would silently match nothing. */
import { Failure } from '#domain/errors.ts';
import { nearest } from '#domain/text/nearest-name.ts';
import { knownAgents, listAgents } from '#store/agent-store.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

/** A JSON pointer into the request, and the key at that place; none if it names no agent. */
export type NamedAgent = readonly [pointer: string, key: string | null | undefined];

/** How many agents are searched for similar names. */
const MAX_CANDIDATES = 500;

/** @throws Failure Unprocessable, with each agent that does not exist and similar names. */
export async function requireAgents(db: TenantDb, named: readonly NamedAgent[]): Promise<void> {
  const requests = named.filter((each): each is readonly [string, string] => typeof each[1] === 'string');
  if (requests.length === 0) return;
  const known = new Set(await knownAgents(db, [...new Set(requests.map(([, key]) => key))]));
  const unknown = requests.filter(([, key]) => !known.has(key));
  if (unknown.length === 0) return;
  const all = (await listAgents(db, MAX_CANDIDATES, '')).map(({ config }) => config.key);
  const errors = unknown.map(([pointer, key]) => {
    const near = nearest(key, all);
    const meant = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
    return { pointer, message: `there is no agent ${key}${meant}` };
  });
  const words = errors.map(({ pointer, message }) => `${pointer}: ${message}`).join('\n');
  throw new Failure('Unprocessable', words, { errors });
}
