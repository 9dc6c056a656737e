/**
 * The connection to Postgres: a pool that survives restarts of the server, and errors classified as transient or
 * permanent.
 */
import { DatabaseError, Pool as PgPool } from 'pg';

export type Pool = PgPool;

/**
 * The server ends statements after 30 s. A transaction whose process has stopped between two statements blocks its rows
 * for at most 10 s.
 */
export const SESSION_LIMITS = {
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 10_000,
} as const;

/**
 * A connection is awaited for at most 10 s. Behind a pooler, whose connections no client owns, the pooler sets
 * `SESSION_LIMITS` (docs/operations.md), because it refuses them from a client.
 */
export function createPool(options: {
  readonly url: string;
  /** PgBouncer in transaction mode in front of `url`; all statements go through it. */
  readonly poolerUrl?: string | undefined;
  readonly size: number;
  readonly applicationName: string;
  /** Receives the error of an idle connection that breaks; the pool replaces the connection by itself. */
  readonly onIdleError: (error: Error) => void;
}): Pool {
  const pool = new PgPool({
    connectionString: options.poolerUrl ?? options.url,
    max: options.size,
    application_name: options.applicationName,
    connectionTimeoutMillis: 10_000,
    ...(options.poolerUrl === undefined && SESSION_LIMITS),
    keepAlive: true,
  });
  pool.on('error', options.onIdleError);
  // The next statement reports a connection that breaks between two statements of a transaction.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

const LOST_CONNECTION = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
]);

/**
 * Whether the same statement may succeed later. The server is unreachable, starting, out of space or connections,
 * read-only for now, or chose this transaction as the victim of a conflict. These are the SQLSTATE classes 08, 40, 53,
 * 57P, 25006, 25P03 and 55P03.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // Only the server's Unix socket, and no other file.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  if (code !== undefined && (LOST_CONNECTION.has(code) || /^(08|40|53|57P|25006|25P03|55P03)/.test(code)))
    return true;
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    error.message,
  );
}

/** A function returned nothing although it always returns something: it is a different function. */
export class MissingAnswer extends Error {}

/**
 * Whether Postgres fails and not the value: besides transient errors, a missing or different function or table, a
 * missing permission, or a disk that does not write. The statement succeeds once somebody has repaired that. This is
 * every SQLSTATE except classes 22, 23 and 54, by which Postgres refuses a value.
 */
export function isDatabaseFault(error: unknown): boolean {
  return (
    isTransient(error) ||
    error instanceof MissingAnswer ||
    (error instanceof DatabaseError && !/^(22|23|54)/.test(error.code ?? ''))
  );
}
