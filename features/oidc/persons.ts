/**
 * Persons of identity providers. Each is a key without a secret, which their newest token describes: what holds of a key
 * holds of them, such as that an admin can revoke it.
 */
import { createHash } from 'node:crypto';
import { type ApiKeyRow, putPersonKey } from '#store/api-key-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { Failure } from '#domain/errors.ts';
import { SCOPES, type Scope } from '#domain/schema/api-key.ts';
import type { Claims } from './check-token.ts';
import { mapClaims } from './map-claims.ts';
import type { IssuerSettings } from './settings.ts';

/**
 * Keeps what the claims say of their person. Returns the person's key with the rights of this token: no more than the
 * newest one grants. When the key is only renewed, the person must have it already.
 * @throws Failure Forbidden when they mean nobody; Unauthorized when the key was revoked
 */
export async function keepPerson(
  pool: Pool,
  issuer: IssuerSettings,
  claims: Claims,
  { isRenewed = false } = {},
): Promise<ApiKeyRow> {
  const person = mapClaims(claims, issuer);
  if (typeof person === 'string')
    throw new Failure('Forbidden', `This token gives access to nothing: ${person}`);
  const { tenant, user, scopes, groups } = person;
  const name = `${namePrefix(issuer)}${claims.sub}`;
  // No key has this hash: the secrets of keys begin otherwise.
  const hash = createHash('sha256')
    .update(JSON.stringify([tenant, name]))
    .digest();
  const key = {
    id: `${PERSON}${hash.toString('hex', 0, 16)}`,
    name,
    user,
    hash,
    scopes,
    groups,
    issuedAt: new Date(claims.iat * 1000),
    expiresAt: new Date(claims.exp * 1000),
  };
  const row = await putPersonKey(forTenant(pool, tenant), key, isRenewed);
  if (!row) {
    const why = isRenewed ? 'its person has no key any more' : 'it names no tenant that it may name';
    throw new Failure('Forbidden', `This token gives access to nothing: ${why}`);
  }
  if (row.revoked_at) throw new Failure('Unauthorized', `The key ${row.id} of this person was revoked`);
  const newest = scopesOf(row.scopes);
  return {
    ...row,
    scopes: scopesOf(scopes).filter((scope) => newest.includes(scope)),
    groups: groups.filter((group) => row.groups.includes(group)),
  };
}

/** Before the ids of persons' keys; no other key has it. */
const PERSON = 'oidc_';

function namePrefix({ issuer }: Pick<IssuerSettings, 'issuer'>): string {
  return `oidc:${issuer}#`;
}

/** Whether the key is that of a person of the issuer. */
export function isPersonOf(
  { id, name }: Pick<ApiKeyRow, 'id' | 'name'>,
  issuer: Pick<IssuerSettings, 'issuer'>,
): boolean {
  return id.startsWith(PERSON) && name.startsWith(namePrefix(issuer));
}

/** `admin` includes the others. */
function scopesOf(scopes: readonly string[]): readonly Scope[] {
  return SCOPES.filter((scope) => scopes.includes(scope) || scopes.includes('admin'));
}
