/** Health for whoever restarts us, and numbers for whoever watches us. */
import { z } from 'zod';
import { countOpenTurns } from '#activities/store/turn-store.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';

/** A service that does not answer within this is not ready. */
const CHECK_MS = 2_000;
/** The count of open turns is read at most so often, however many scrape. */
const COUNT_KEPT_MS = 10_000;

const part = z.enum(['ok', 'away']);

export function addServiceRoutes(app: Api, deps: ApiDeps): void {
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

  const readiness = z.object({ status: part, postgres: part, temporal: part });
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
      const [postgres, temporal] = await Promise.all([
        answers(() => deps.pool.query('select 1')),
        answers(() => deps.temporal.check(CHECK_MS)),
      ]);
      const status = postgres === 'ok' && temporal === 'ok' ? 'ok' : 'away';
      if (status === 'away') reply.header('retry-after', '2');
      return reply.code(status === 'ok' ? 200 : 503).send({ status, postgres, temporal });
    },
  );

  let counted = 0;
  app.get(
    '/metrics',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['service'],
        operationId: 'getMetrics',
        summary: 'Prometheus metrics of this process',
        response: {
          200: { description: 'Prometheus text', content: { 'text/plain': { schema: z.string() } } },
          ...problems(),
        },
      },
    },
    async (request, reply) => {
      if (Date.now() - counted > COUNT_KEPT_MS) {
        try {
          deps.metrics.openTurns(await countOpenTurns(deps.pool));
          counted = Date.now();
        } catch (error) {
          // The other numbers are worth having most of all when the database is away.
          request.log.warn({ err: error }, 'open turns could not be counted');
        }
      }
      reply.serializer((payload) => String(payload));
      return reply
        .type('text/plain; version=0.0.4; charset=utf-8')
        .send(await deps.metrics.registry.metrics());
    },
  );
}

async function answers(ask: () => Promise<unknown>): Promise<'ok' | 'away'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'away'>((resolve) => {
    timer = setTimeout(() => resolve('away'), CHECK_MS);
  });
  const asked = ask().then(
    () => 'ok' as const,
    () => 'away' as const,
  );
  const answer = await Promise.race([asked, late]);
  clearTimeout(timer);
  return answer;
}
