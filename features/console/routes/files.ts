/** Serves the scripts and styles of the console. Their names contain a hash, so browsers keep them. */
import type { Api, ApiDeps } from '#api/deps.ts';
import { Failure } from '#domain/errors.ts';

export function addRoutes(app: Api, { webConsole }: ApiDeps): void {
  if (!webConsole) return;
  app.get<{ Params: { name: string } }>(
    '/assets/:name',
    { config: { scope: 'public', rateLimit: false }, schema: { hide: true } },
    async ({ params, headers }, reply) => {
      const file = await webConsole.files.file(params.name);
      if (!file) throw new Failure('NotFound', 'The console has no such file');
      reply
        .type(file.type)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('vary', 'accept-encoding');
      if (!/\bgzip\b/.test(headers['accept-encoding'] ?? '')) return reply.send(file.plain);
      return reply.header('content-encoding', 'gzip').send(file.gzipped);
    },
  );
}
