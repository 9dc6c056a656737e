/**
 * Looks a noun up before its body is read. The same 404 therefore answers for an id of another tenant or, for confined
 * callers, of another user (IN-9), for an id that never existed, and for an invalid id.
 */
import type { FastifyRequest } from 'fastify';
import { type AssignmentRow, findAssignment } from '#store/assignments/assignment-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { findSession, type SessionRow } from '#store/turns/session-store.ts';
import { findTurn, type TurnRow } from '#store/turns/turn-store.ts';
import { Failure } from '#domain/errors.ts';
import { type AssignmentKind, isSessionKey } from '#domain/ids.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type Caller, callerOf } from './server/auth.ts';

export async function sessionOr404(pool: Pool, request: FastifyRequest): Promise<SessionRow> {
  const key = paramOf(request, 'key');
  const row = isSessionKey(key) ? await reachableSession(pool, callerOf(request), key) : undefined;
  if (!row) throw noSession();
  return row;
}

export async function reachableSession(
  pool: Pool,
  { tenant, confinedTo }: Caller,
  key: string,
): Promise<SessionRow | undefined> {
  const row = await findSession(forTenant(pool, tenant), key);
  return row && isReachable(confinedTo, row.user_id) ? row : undefined;
}

export function isReachable(confinedTo: string | null, user: string | null): boolean {
  return confinedTo === null || user === confinedTo;
}

export function noSession(): Failure {
  return new Failure('NotFound', 'There is no session with this key');
}

export async function reachableTurn(pool: Pool, caller: Caller, id: string): Promise<TurnRow | undefined> {
  const row = await findTurn(forTenant(pool, caller.tenant), id);
  return row && (await reachableSession(pool, caller, row.session_key)) ? row : undefined;
}

export async function reachableAssignment(
  pool: Pool,
  { tenant, confinedTo }: Caller,
  kind: AssignmentKind,
  id: string,
): Promise<AssignmentRow | undefined> {
  const row = await findAssignment(forTenant(pool, tenant), id);
  return row?.kind === kind && isReachable(confinedTo, row.user_id) ? row : undefined;
}

/** Reads the raw parameters, because this runs before they are checked. */
export function paramOf(request: FastifyRequest, name: string): unknown {
  const { params } = request;
  return typeof params === 'object' && params !== null
    ? (params as Record<string, unknown>)[name]
    : undefined;
}
