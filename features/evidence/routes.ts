/** Serves the chain of a tenant: its state, and all of it as a file. */
import { Readable } from 'node:stream';
import type { Api, ApiDeps } from '#api/deps.ts';
import { serveResource } from '#api/serve-resource.ts';
import { callerOf } from '#api/server/auth.ts';
import { bytesOf } from '#api/server/openapi.ts';
import { listAnchors } from './anchor-store.ts';
import { EXPORT_TYPE } from './chain.ts';
import { exportLines } from './export.ts';
import { evidenceChain } from './resource.ts';
import { countWaiting, readHead } from './store.ts';

export function addRoutes(app: Api, { pool, secrets }: ApiDeps): void {
  serveResource(app, evidenceChain, {
    async getEvidence({ db }) {
      const head = await readHead(db);
      return {
        entries: head?.seq ?? 0,
        waiting: await countWaiting(db),
        head: head ?? null,
        public_key: head?.public_key ?? null,
        anchors: await listAnchors(db),
      };
    },
  });

  app.get(
    '/v1/evidence/export',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['policy'],
        operationId: 'exportEvidence',
        summary: 'Get the chain of evidence as a file',
        description:
          'Lines of JSON: a header, each entry with what it covers, rows without an entry, the signed end. `tempoclaw evidence verify` checks it offline.',
        response: { 200: bytesOf(EXPORT_TYPE, 'A line of JSON for each entry') },
      },
      serializerCompiler: () => (data) => data as string,
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const lines = exportLines(pool, secrets.sealer, tenant);
      // The first line is read before the answer begins, so that a database that is away is a 503.
      const first = await lines.next();
      const all = (async function* () {
        if (!first.done) yield first.value;
        yield* lines;
      })();
      return reply
        .type(EXPORT_TYPE)
        .header('content-disposition', 'attachment')
        .send(Readable.from(all) as never);
    },
  );
}
