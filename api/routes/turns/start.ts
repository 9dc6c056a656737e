/** Serves the first page, which links to everything, for a person with a browser and for a program. */
import { z } from 'zod';
import manifest from '../../../package.json' with { type: 'json' };
import { escapeHtml, page, PAGE_POLICY } from '../../server/html-page.ts';
import { acceptsPages, sendPage } from '../../server/browser-pages.ts';
import type { Api, ApiDeps } from '../../deps.ts';

const startSchema = z.object({
  name: z.literal('tempoclaw'),
  version: z.string(),
  docs: z.string(),
  openapi: z.string(),
  health: z.string(),
  temporal_ui: z.string().nullable(),
  approvals: z.string().nullable().describe('What waits for a decision, in the Temporal web UI'),
});

type Start = z.infer<typeof startSchema>;

export function addRoutes(app: Api, { settings, findPage }: ApiDeps): void {
  const ui = settings.temporalUiUrl?.replace(/\/+$/, '') ?? null;
  const waiting = encodeURIComponent("WorkflowType='approval' AND ExecutionStatus='Running'");
  app.get(
    '/',
    {
      config: { scope: 'public' },
      schema: {
        tags: ['service'],
        operationId: 'getStart',
        summary: 'Where everything is',
        description: 'A page for browsers (`Accept: text/html`), JSON for all others.',
        response: { 200: startSchema },
      },
    },
    async (request, reply) => {
      const base = settings.publicUrl?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`;
      const start: Start = {
        name: 'tempoclaw',
        version: manifest.version,
        docs: `${base}/docs`,
        openapi: `${base}/openapi.json`,
        health: `${base}/readyz`,
        temporal_ui: ui,
        approvals:
          ui &&
          `${ui}/namespaces/${encodeURIComponent(settings.temporalNamespace)}/workflows?query=${waiting}`,
      };
      reply.header('vary', 'accept');
      if (!acceptsPages(request)) return start;
      const found = await findPage?.(request);
      if (found) return sendPage(reply, found) as never;
      reply.serializer(String).header('content-security-policy', PAGE_POLICY);
      return await reply.type('text/html; charset=utf-8').send(startPage(start) as never);
    },
  );
}

function startPage({ docs, openapi, health, temporal_ui: ui, approvals, version }: Start): string {
  const rows: [string, string | null, string][] = [
    ['API reference', docs, 'every request, with its schemas'],
    ['OpenAPI document', openapi, 'for programs'],
    ['Temporal web UI', ui, 'each turn step by step'],
    ['Waiting approvals', approvals, 'in the Temporal web UI; to decide: npx tempoclaw approvals'],
    ['Readiness', health, 'whether it can do its work'],
  ];
  const shown = rows.flatMap(([name, address, words]) =>
    address === null ? [] : [`<dt><a href="${escapeHtml(address)}">${name}</a></dt><dd>${words}</dd>`],
  );
  return page(
    'Start',
    `<h1>TempoClaw ${escapeHtml(version)}</h1>
<p>This is the HTTP API of TempoClaw. Requests carry a key: <code>Authorization: Bearer tc_…</code>; the first is in the file <code>api-key</code> of the state folder. At a terminal: <code>npx tempoclaw chat</code>.</p>
<dl>${shown.join('')}</dl>`,
  );
}
