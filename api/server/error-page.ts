/** The page that a problem's `type` links to: it says what each code means. */
import { FAILURES } from '#domain/errors.ts';
import type { Api } from '../deps.ts';

/** The page is static and has no script, so the strict policy of all other answers also fits it. */
export function serveErrorPage(app: Api): void {
  const rows = Object.entries(FAILURES).map(
    ([code, { status, title, retryable }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${title}</td><td>${retryable ? 'yes' : 'no'}</td></tr>`,
  );
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>TempoClaw: errors</title>
<h1>Errors</h1><table><thead><tr><th>code</th><th>status</th><th>what</th><th>try again</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table></html>`;
  app.get(
    '/docs/errors',
    { config: { scope: 'public', rateLimit: false }, schema: { hide: true } },
    async (_request, reply) => {
      reply.serializer((payload) => String(payload));
      return reply.type('text/html; charset=utf-8').send(html);
    },
  );
}
