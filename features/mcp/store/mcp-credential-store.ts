/**
 * Sealed credentials for MCP servers besides the servers' own: of users, and logins by OAuth, which one worker at a
 * time refreshes.
 */
import { sql } from 'kysely';
import { Failure } from '#domain/errors.ts';
import type { KeptMcpCredentials, McpServerConfig } from '../rules/server.ts';
import { addressIn, type McpServerRow } from './mcp-server-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { affects, readRow } from '#store/postgres/statements.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { inTenantLock } from '#store/postgres/transaction.ts';

export interface McpOwner {
  readonly tenant: string;
  readonly server: string;
  /** Empty for credentials that are for all. */
  readonly user: string;
}

interface CredentialRow {
  /** JSON of KeptMcpCredentials, bound to `placeOf(owner)`. */
  readonly sealed: string;
  readonly revision: number;
  /** Null before the first login. */
  readonly given_at: Date | null;
}

export interface OpenedMcpCredentials extends Omit<CredentialRow, 'sealed'> {
  readonly kept: KeptMcpCredentials;
}

type McpNamed = Pick<McpServerRow, 'name' | 'config'>;

/** Users of a server that have their own. */
const MAX_USERS = 10_000;

const MAX_TRIES = 5;

export const NO_CREDENTIALS: KeptMcpCredentials = { env: {}, headers: {} };

export interface CredentialDeps {
  readonly pool: Pool;
  readonly sealer: Sealer;
}

const isOf = ({ tenant, server, user }: McpOwner) =>
  sql`tenant_id = ${tenant} and server_id = ${server} and user_id = ${user}`;

function placeOf({ tenant, server, user }: McpOwner): string {
  return `${tenant}/mcp_credentials/${server}/${user}`;
}

function opened(
  sealer: Sealer,
  owner: McpOwner,
  { sealed, revision, given_at }: CredentialRow,
): OpenedMcpCredentials {
  return { revision, given_at, kept: JSON.parse(sealer.open(sealed, placeOf(owner))) as KeptMcpCredentials };
}

export async function findMcpCredentials(
  { pool, sealer }: CredentialDeps,
  owner: McpOwner,
): Promise<OpenedMcpCredentials | undefined> {
  const row = await readRow<CredentialRow>(pool)`
    select sealed, revision, given_at from mcp_credentials where ${isOf(owner)}`;
  return row && opened(sealer, owner, row);
}

export interface CredentialChange {
  /** The server that its caller has seen: the credentials are for this address, and are stored only while it has it. */
  readonly seen?: McpServerConfig;
  /** True if a new connection can use them now. */
  readonly isNew?: boolean;
  /** A login begins; any other that is under way ends. */
  readonly login?: { readonly hash: Buffer; readonly seconds: number };
}

/**
 * Stores what `change` makes of the current credentials, if anything; tries again when another writer has changed them.
 * @throws Failure Conflict when the server is gone, has another address, or has too many.
 */
export async function changeMcpCredentials(
  deps: CredentialDeps,
  owner: McpOwner,
  change: (kept: KeptMcpCredentials | undefined) => KeptMcpCredentials | undefined,
  { seen, isNew = false, login }: CredentialChange = {},
): Promise<void> {
  const { pool, sealer } = deps;
  const { tenant, server, user } = owner;
  const isAsSeen = seen
    ? sql`${addressIn(sql`config`)} is not distinct from ${addressIn(sql`${JSON.stringify(seen)}::jsonb`)}`
    : sql`true`;
  // A change of the address waits for the lock, and then deletes what this stores.
  const found = sql`found as (
    select id as found_id from mcp_servers where tenant_id = ${tenant} and id = ${server} and ${isAsSeen} for share)`;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = await findMcpCredentials(deps, owner);
    const next = change(before?.kept);
    if (!next) return;
    const sealed = sealer.seal(JSON.stringify(next), placeOf(owner));
    const savedAt = isNew ? sql`now()` : sql`null::timestamptz`;
    const until = sql`now() + make_interval(secs => ${login?.seconds})`;
    const isWritten = before
      ? await affects(pool)`with ${found}
          update mcp_credentials set sealed = ${sealed}, key_id = ${sealer.keyId}, revision = revision + 1, refreshing_until = null,
            given_at = coalesce(${savedAt}, given_at), state_hash = coalesce(${login?.hash}::bytea, state_hash),
            state_expires_at = coalesce(${until}, state_expires_at)
          from found where ${isOf(owner)} and revision = ${before.revision}`
      : await inTenantLock(
          forTenant(pool, tenant),
          (tx) => affects(tx)`with ${found}
          insert into mcp_credentials (tenant_id, server_id, user_id, sealed, key_id, given_at, state_hash, state_expires_at)
          select ${tenant}, found_id, ${user}, ${sealed}, ${sealer.keyId}, ${savedAt}, ${login?.hash}::bytea, ${until} from found
          where (select count(*) from mcp_credentials where tenant_id = ${tenant} and server_id = ${server}) < ${MAX_USERS}
          on conflict do nothing`,
        );
    if (isWritten) return;
  }
  throw new Failure(
    'Conflict',
    `The credentials were not kept: the server is gone or has another address now, ${MAX_USERS} users have theirs, or others change them at once`,
  );
}

/** Returns false when there were none. */
export function deleteMcpCredentials(pool: Pool, owner: McpOwner): Promise<boolean> {
  return affects(pool)`delete from mcp_credentials where ${isOf(owner)}`;
}

/** Whose login has this `state`; `server` is its name. */
export function findMcpLogin(pool: Pool, hash: Buffer): Promise<McpOwner | undefined> {
  return readRow<McpOwner>(pool)`
    select c.tenant_id as tenant, s.name as server, c.user_id as "user"
    from mcp_credentials c join mcp_servers s on s.tenant_id = c.tenant_id and s.id = c.server_id
    where c.state_hash = ${hash} and c.state_expires_at > now()`;
}

/**
 * The login that has this `state`, once, because this uses it up. Like a key, it names the tenant. `name` and `config`
 * are the server's.
 */
export async function claimMcpLogin(
  { pool, sealer }: CredentialDeps,
  hash: Buffer,
): Promise<(McpNamed & { readonly owner: McpOwner; readonly kept: KeptMcpCredentials }) | undefined> {
  const row = await readRow<McpOwner & CredentialRow & McpNamed>(pool)`
    update mcp_credentials c set state_hash = null, state_expires_at = null from mcp_servers s
    where c.state_hash = ${hash} and c.state_expires_at > now() and s.tenant_id = c.tenant_id and s.id = c.server_id
    returning c.tenant_id as tenant, c.server_id as server, c.user_id as "user", s.name, s.config, c.sealed, c.revision, c.given_at`;
  if (!row) return undefined;
  const { tenant, server, user, name, config } = row;
  const owner = { tenant, server, user };
  return { owner, name, config, kept: opened(sealer, owner, row).kept };
}

/** After this, another worker takes over from one that died. */
const REFRESH_LEASE = '1 minute';

/** Returns true for the one worker that should refresh the tokens of this revision. */
export function claimRefresh(pool: Pool, owner: McpOwner, revision: number): Promise<boolean> {
  return affects(pool)`
    update mcp_credentials set refreshing_until = now() + ${REFRESH_LEASE}::interval
    where ${isOf(owner)} and revision = ${revision} and (refreshing_until is null or refreshing_until < now())`;
}
