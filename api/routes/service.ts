/** Serves health for whatever restarts us, and metrics for whatever monitors us. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { isDiskFull } from '#domain/files/disk-full.ts';
import { ForeignNamespace } from '#domain/installation.ts';
import { countEgress } from '#store/egress-store.ts';
import { countOpenTurns } from '#store/turns/turn-store.ts';
import { probeWrite } from '#store/postgres/write-probe.ts';
import { callerOf, requireOperator } from '../server/auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../server/openapi.ts';

/** A service that does not answer within this time is not ready. */
const CHECK_MS = 2_000;
/** The count of open turns is read at most this often, however many clients scrape. */
const COUNT_KEPT_MS = 10_000;
const EGRESS_MINUTES = 5;

/** Requests within this time get the last answer, because probes write, and the route needs no key. */
const READINESS_KEPT_MS = 1_000;
/** More than the free space in blocks that files already occupy. */
const PROBE_BYTES = 65_536;

/** `full` means that it answers, but its disk has no space to write. */
const part = z.enum(['ok', 'full', 'away']);
type Part = z.infer<typeof part>;
const readiness = z.object({
  status: part,
  postgres: part,
  temporal: part,
  state_folder: part,
  detail: z.string().optional(),
});
type Readiness = z.infer<typeof readiness>;

export function addRoutes(app: Api, deps: ApiDeps): void {
  app.get(
    '/healthz',
    {
      config: { scope: 'public', rateLimit: false },
      schema: {
        tags: ['service'],
        operationId: 'getHealth',
        summary: 'Is the process alive?',
        response: { 200: z.object({ status: z.literal('ok') }) },
      },
    },
    async () => ({ status: 'ok' as const }),
  );

  const probe = keptFor(READINESS_KEPT_MS, () => lookAtParts(deps));
  app.get(
    '/readyz',
    {
      config: { scope: 'public', rateLimit: false },
      schema: {
        tags: ['service'],
        operationId: 'getReadiness',
        summary: 'Can it do its work?',
        response: { 200: readiness, 503: readiness },
      },
    },
    async (_request, reply) => {
      const found = await probe();
      if (found.status !== 'ok') reply.header('retry-after', '2');
      return reply.code(found.status === 'ok' ? 200 : 503).send(found);
    },
  );

  let counted = 0;
  app.get(
    '/metrics',
    {
      config: { scope: 'metrics' },
      schema: {
        tags: ['service'],
        operationId: 'getMetrics',
        summary: 'Prometheus metrics of this process, for the operator',
        response: {
          200: { description: 'Prometheus text', content: { 'text/plain': { schema: z.string() } } },
          ...problems(),
        },
      },
    },
    async (request, reply) => {
      requireOperator(callerOf(request).tenant, 'Metrics, which cover all tenants, are read');
      if (Date.now() - counted > COUNT_KEPT_MS) {
        try {
          deps.metrics.openTurns(await countOpenTurns(deps.pool));
          deps.metrics.egress(await countEgress(deps.pool, EGRESS_MINUTES));
          await deps.metrics.readGauges();
          counted = Date.now();
        } catch (error) {
          // The other metrics are most useful exactly when the database is away.
          request.log.warn({ err: error }, 'figures of the database could not be read');
        }
      }
      reply.serializer((payload) => String(payload));
      return reply
        .type('text/plain; version=0.0.4; charset=utf-8')
        .send(await deps.metrics.registry.metrics());
    },
  );
}

async function lookAtParts({ pool, temporal, settings }: ApiDeps): Promise<Readiness> {
  let detail: string | undefined;
  const [postgres, reached, folder] = await Promise.all([
    answers(() => probeWrite(pool)),
    answers(() =>
      temporal.check(CHECK_MS).catch((error: unknown) => {
        if (error instanceof ForeignNamespace) detail = error.message;
        throw error;
      }),
    ),
    settings.stateDir === undefined ? ('ok' as const) : answers(probeFolder(settings.stateDir)),
  ]);
  const parts = { postgres, temporal: reached, state_folder: folder };
  const isFull = postgres === 'full' || folder === 'full';
  // A Postgres that could not write its log has ended; the full disk is what an operator can fix.
  if (isFull)
    return { status: 'full', ...parts, detail: 'The disk is full: nothing can be written. Free some space.' };
  return { status: Object.values(parts).every((one) => one === 'ok') ? 'ok' : 'away', ...parts, detail };
}

/** Writes and removes a small file. A folder that was never made needs no check. */
function probeFolder(folder: string): () => Promise<void> {
  return async () => {
    const file = join(folder, `.write-probe-${process.pid}`);
    try {
      await writeFile(file, Buffer.alloc(PROBE_BYTES), { mode: 0o600 });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    } finally {
      await rm(file, { force: true });
    }
  };
}

/** Runs one probe at a time, and shares its answer with all callers for a while. */
function keptFor<T>(ms: number, probe: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined;
  let until = 0;
  return () => {
    if (last === undefined || performance.now() > until) {
      until = Infinity;
      last = probe().finally(() => {
        until = performance.now() + ms;
      });
    }
    return last;
  };
}

async function answers(ask: () => Promise<unknown>): Promise<Part> {
  const pending = ask().then(
    () => 'ok' as const,
    (error: unknown) => (isDiskFull(error) ? 'full' : 'away'),
  );
  return (await withTimeout(CHECK_MS, pending)) ?? 'away';
}
