/** The one way to Postgres: a pool that outlives its server, and errors sorted into "try again" and "a bug". */
import { DatabaseError, Pool as PgPool } from 'pg';

export type Pool = PgPool;

export interface PoolOptions {
  readonly url: string;
  readonly size: number;
  readonly applicationName: string;
  /** An idle connection that breaks is told here; the pool replaces it by itself. */
  readonly onIdleError: (error: Error) => void;
}

/**
 * Statements are ended by the server after 30 s, and a connection is waited for at most 10 s. A transaction whose process has
 * stopped between two statements keeps others from its rows for at most 10 s.
 */
export function createPool(options: PoolOptions): Pool {
  const pool = new PgPool({
    connectionString: options.url,
    max: options.size,
    application_name: options.applicationName,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
  });
  pool.on('error', options.onIdleError);
  // One that breaks between two statements of a transaction is told to the next statement.
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
 * Whether the same statement may succeed later: the server is away, starting, out of room or connections, only reads
 * for now, or chose this transaction to give way (SQLSTATE classes 08, 40, 53, 57P, 25006, 25P03 and 55P03).
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // The server's Unix socket, and no other file.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  if (code !== undefined && (LOST_CONNECTION.has(code) || /^(08|40|53|57P|25006|25P03|55P03)/.test(code)))
    return true;
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    error.message,
  );
}

/** A function of ours gave nothing where it always gives something: it is another one. */
export class MissingAnswer extends Error {}

/**
 * Whether Postgres fails, and not what it was given: besides what passes by itself, a function or table that is not there or is another
 * one, a right that is missing, a disk that does not write. Somebody mends that, and then the same statement succeeds. All that it says but SQLSTATE
 * classes 22, 23 and 54, by which it refuses a value.
 */
export function isDatabaseFault(error: unknown): boolean {
  return (
    isTransient(error) ||
    error instanceof MissingAnswer ||
    (error instanceof DatabaseError && !/^(22|23|54)/.test(error.code ?? ''))
  );
}
