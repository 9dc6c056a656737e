/** Operators' requests to a process, the same for the API and workers (domain/gateway.ts). */
import { oneAtATime } from '#domain/async/one-at-a-time.ts';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { Failure } from '#domain/errors.ts';
import type { Gateway, GatewayCaller, Reloaded } from '#domain/gateway.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import { type ChangeFeed, noteSettings, settingsVersion } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { probeWrite } from '#store/postgres/write-probe.ts';
import manifest from '../package.json' with { type: 'json' };
import type { TemporalAccess } from './client.ts';

const CHECK_MS = 2_000;
const RETRY_MS = 2_000;

export interface GatewayParts {
  readonly pool: Pool;
  readonly temporal: Pick<TemporalAccess, 'pollers'>;
  readonly changes: ChangeFeed;
  readonly settings: {
    readonly config: { readonly temporal: { readonly taskQueue: string } };
    reload(): Reloaded;
    shown(path: string): unknown;
  };
  /** The tenant whose admins run the deployment. */
  readonly operator?: string;
  /** Logs each reload that another process or a signal requested. */
  readonly log: Record<'info' | 'warn', (fields: object, message: string) => void>;
}

/** `hear` handles SIGHUP: like `reload`, with a log entry. Never throws. */
export function createGateway(parts: GatewayParts): Gateway & { hear(): Promise<void> } {
  const { pool, temporal, changes, settings, operator = OPERATOR_TENANT, log } = parts;
  const started = performance.now();
  let known: string | undefined;
  const failed = (error: unknown): void => log.warn({ err: error }, 'the settings could not be read again');
  const again = (): void => {
    try {
      log.info({ ...settings.reload() }, 'the settings were read again');
    } catch (error) {
      failed(error);
    }
  };
  /** One request is notified several times, and a reconnect notifies everything. */
  const isNew = (version: string): boolean => {
    if (known !== undefined && BigInt(version) <= BigInt(known)) return false;
    known = version;
    return true;
  };
  async function readNewest(): Promise<void> {
    const found = await settingsVersion(forTenant(pool, operator), process.uptime());
    const isFirst = known === undefined;
    // At start the file has just been read, unless a reload was requested since.
    if (found && isNew(found.version) && (!isFirst || found.fresh)) again();
  }
  /** Sequential: our own reload gives its result to the caller, so a follower must not read it first. */
  const inTurn = oneAtATime();
  const follow = (tries: number): void => {
    inTurn(readNewest).catch((error: unknown) => {
      failed(error);
      if (tries > 1) setTimeout(follow, RETRY_MS, tries - 1).unref();
    });
  };
  changes.subscribe('settings', () => follow(5));

  const check = ({ tenant, scopes }: GatewayCaller): void => {
    if (tenant !== operator || !scopes.includes('admin'))
      throw new Failure('Forbidden', `This is for admins of the tenant ${operator}`);
  };

  return {
    async status(caller) {
      check(caller);
      const [postgres, seen] = await Promise.all([
        answers(() => probeWrite(pool)),
        temporal.pollers(CHECK_MS).catch(() => undefined),
      ]);
      return {
        version: manifest.version,
        uptime_seconds: Math.floor((performance.now() - started) / 1000),
        postgres,
        temporal: seen ? 'ok' : 'away',
        task_queue: settings.config.temporal.taskQueue,
        workers: seen ?? [],
      };
    },
    config(caller, path) {
      check(caller);
      const found = settings.shown(path);
      if (found === undefined) throw new Failure('NotFound', `there is no setting ${path}, or it is not set`);
      return found;
    },
    async reload(caller) {
      check(caller);
      return inTurn(async () => {
        // The file is read after the request is recorded: a later request has a later version.
        isNew(await noteSettings(forTenant(pool, operator)));
        return settings.reload();
      });
    },
    hear: () =>
      inTurn(async () => {
        try {
          isNew(await noteSettings(forTenant(pool, operator)));
        } catch (error) {
          failed(error);
        }
        again();
      }),
  };
}

/** Opens the gateway of a process, which reloads its settings at SIGHUP. */
export function openGateway(parts: GatewayParts): Gateway {
  const gateway = createGateway(parts);
  process.on('SIGHUP', () => void gateway.hear());
  return gateway;
}

async function answers(ask: () => Promise<void>): Promise<'ok' | 'away'> {
  const pending = ask().then(
    () => 'ok' as const,
    () => 'away' as const,
  );
  return (await withTimeout(CHECK_MS, pending)) ?? 'away';
}
