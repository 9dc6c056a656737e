/** The one way to Postgres: a pool that outlives its server, and errors sorted into "try again" and "a bug". */
import { Pool as PgPool, type PoolClient } from 'pg';

export type Pool = PgPool;
/** A connection in a transaction, or any. */
export type Db = Pick<PoolClient, 'query'>;

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

/** One commit. A connection that is lost on the way, or cannot even roll back, is closed, which does it. */
export async function inTransaction<Result>(pool: Pool, work: (db: Db) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error): void => void (broken = error);
  // The pool listens only to those that are idle, and nobody's error ends the process.
  client.on('error', onError);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(onError);
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
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
 * Whether the same statement may succeed later: the server is away, starting, out of room or connections, or chose this
 * transaction to give way (SQLSTATE classes 08, 40, 53, 57P, 25P03 and 55P03).
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // The server's Unix socket, and no other file.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  if (code !== undefined && (LOST_CONNECTION.has(code) || /^(08|40|53|57P|25P03|55P03)/.test(code)))
    return true;
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    error.message,
  );
}
