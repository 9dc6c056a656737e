/** What a process of a deployment lacks when it cannot start, in words for those who run it. */
import { ForeignNamespace } from '#domain/installation.ts';
import { CliError } from './cli-error.ts';

const POSTGRES = 'Check DATABASE_URL and that the server runs.';
const TEMPORAL = 'Check TEMPORAL_ADDRESS, and TEMPORAL_NAMESPACE, which must exist there.';
const PORT = 'Set api.port (TEMPOCLAW_PORT) and api.host (TEMPOCLAW_HOST), or end what uses the port.';

/** Codes of Postgres for wrong logins and missing databases, and of connections. */
const OF_POSTGRES = /^(?:28\w{3}|3D000|53300|57P0[1-3]|E[A-Z_]+)$/;

/** Undefined for what is a bug. */
export function startFailure(error: unknown): CliError | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof ForeignNamespace) return new CliError(error.message, { code: error.name });
  if (error.name === 'TransportError')
    return new CliError(`Temporal cannot be reached: ${error.message}`, { code: 'Start', remedy: TEMPORAL });
  const { code = '', syscall, message } = first(error);
  if (syscall === 'listen') return new CliError(`No port: ${message}`, { code: 'Start', remedy: PORT });
  const isPostgres =
    OF_POSTGRES.test(code) && (syscall === undefined || /^(?:connect|getaddrinfo|read)$/.test(syscall));
  return isPostgres
    ? new CliError(`Postgres cannot be used: ${message}`, { code: 'Start', remedy: POSTGRES })
    : undefined;
}

/** A name with several addresses fails with an error for each. */
function first(error: Error): NodeJS.ErrnoException {
  return error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
}
