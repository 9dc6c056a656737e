/** web_search: each engine in its real format on a server of this machine, and the next one if one fails. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { tool } from '../tools/web-search.ts';
import type { WebSearchSettings } from '../search/settings.ts';
import { createWebSearch } from '../search/web-search.ts';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import { SecretProblem } from '#domain/secret.ts';
import type { ToolResult } from '#domain/tool.ts';
import type { NewEgressRow } from '#store/egress-store.ts';
import { toolBench } from '#test/support/tool-call.ts';
import { memoryEgress, startSite, type WebSite } from '#test/support/web-site.ts';

type Settings = Partial<WebSearchSettings>;

interface Engines extends WebSite {
  readonly rows: NewEgressRow[];
  search(args: Record<string, unknown>, settings: Settings, egress?: EgressSettings): Promise<ToolResult>;
}

async function open(t: TestContext, answer: (url: URL, reply: ServerResponse) => void): Promise<Engines> {
  const site = await startSite(t, (request, reply) =>
    answer(new URL(request.url ?? '', 'http://site.example'), reply),
  );
  const rows: NewEgressRow[] = [];
  return {
    ...site,
    rows,
    async search(args, settings, egressSettings = {}) {
      const webSearch = createWebSearch({
        egress: memoryEgress(rows),
        egressSettings,
        settings: { brave: {}, searxng: {}, duckduckgo: {}, ...settings },
        async resolveSecret(text) {
          if (text === 'secret://gone')
            throw new SecretProblem('the secret "gone" of the tenant default is not set');
          return text.replace('secret://brave', 'real-key');
        },
      });
      const bench = await toolBench(t, { deps: { webSearch } });
      // The agent itself may go nowhere, but engines are the operator's.
      return bench.run(
        tool,
        { query: 'sea otters', ...args },
        { egress: { domains: [{ policy: 'allowlist' }] } },
      );
    },
  };
}

function json(reply: ServerResponse, body: unknown, status = 200): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function textOf(result: ToolResult): string {
  assert.ok(result.ok, JSON.stringify(result));
  return result.text;
}

/** The engine's name, and the list between the markers. */
function read(result: ToolResult): { readonly head: string; readonly list: string } {
  const [, head = '', list = ''] =
    /^([^\n]*)\n<<<EXTERNAL_UNTRUSTED_CONTENT id=\S+ source=\S+>>>\n[^\n]*\n(.*)\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id=\S+>>>$/s.exec(
      textOf(result),
    ) ?? [];
  return { head, list };
}

const queryOf = (site: WebSite): Record<string, string> =>
  Object.fromEntries(new URL(site.requests.at(-1)?.line.split(' ')[1] ?? '', site.url).searchParams);

describe('TL web_search', () => {
  test('asks Brave with its key, from a secret, and all that was asked for', async (t) => {
    const site = await open(t, (_url, reply) =>
      json(reply, {
        type: 'search',
        web: {
          results: [
            {
              title: 'Otters &amp; kelp',
              url: 'https://otters.example/a',
              description: 'The <strong>sea otter</strong> dives.',
            },
            { title: 'Bad', url: 'javascript:alert(1)', description: '' },
            { title: 'More', url: 'https://more.example/', description: 'x'.repeat(5_000) },
          ],
        },
      }),
    );
    const brave = { apiKey: 'secret://brave', baseUrl: site.url };
    const request = { num_results: 3, country: 'de', search_lang: 'de', ui_lang: 'de-DE', freshness: 'pw' };
    const { head, list } = read(await site.search(request, { brave }));
    assert.equal(head, '2 found by brave');
    assert.match(
      list,
      /^1\. Otters & kelp\n {3}https:\/\/otters\.example\/a\n {3}The sea otter dives\.\n2\. More\n {3}https:\/\/more\.example\/\n {3}x{1000}$/,
    );
    assert.match(site.requests[0]?.line ?? '', /^GET \/res\/v1\/web\/search\?/);
    assert.equal(site.requests[0]?.headers['x-subscription-token'], 'real-key');
    assert.deepEqual(queryOf(site), {
      q: 'sea otters',
      count: '3',
      country: 'DE',
      search_lang: 'de',
      ui_lang: 'de-DE',
      freshness: 'pw',
      text_decorations: 'false',
    });
    assert.deepEqual(
      site.rows.map(({ purpose, host, status }) => [purpose, host, status]),
      [['web_search', site.place, 200]],
    );
  });

  test('asks SearXNG, also below a path, and says what its 403 means', async (t) => {
    const site = await open(t, (url, reply) => {
      if (url.pathname === '/closed/search') return void reply.writeHead(403).end();
      json(reply, {
        query: 'q',
        results: [{ title: 'Otter', url: 'https://o.example/', content: 'Dives.' }],
      });
    });
    const request = { search_lang: 'en', country: 'gb', freshness: 'py' };
    const { head, list } = read(await site.search(request, { searxng: { baseUrl: `${site.url}/s` } }));
    assert.deepEqual([head, list], ['1 found by searxng', '1. Otter\n   https://o.example/\n   Dives.']);
    assert.match(site.requests[0]?.line ?? '', /^GET \/s\/search\?/);
    assert.deepEqual(queryOf(site), {
      q: 'sea otters',
      format: 'json',
      language: 'en-GB',
      time_range: 'year',
    });
    const closed = await site.search({}, { order: ['searxng'], searxng: { baseUrl: `${site.url}/closed` } });
    assert.match(closed.ok ? '' : closed.message, /searxng: it answered 403: its JSON format is not enabled/);
  });

  test('asks DuckDuckGo’s page without scripts, follows its links to what they mean, and passes over what is paid for', async (t) => {
    const lead = (url: string): string => `//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=abc`;
    const one = (url: string, kind = ''): string =>
      `<div class="result results_links web-result ${kind}"><h2 class="result__title"><a rel="nofollow" class="result__a" href="${lead(url)}">Otter <b>facts</b></a></h2><a class="result__snippet" href="${lead(url)}">They <b>dive</b>.</a></div>`;
    const site = await open(t, (_url, reply) =>
      reply
        .setHeader('content-type', 'text/html')
        .end(
          `<html><body><div id="links">${one('https://ad.example/', 'result--ad')}${one('https://o.example/?a=1&b=2')}</div></body></html>`,
        ),
    );
    const duckduckgo = { baseUrl: site.url };
    const { head, list } = read(await site.search({ country: 'US', freshness: 'pd' }, { duckduckgo }));
    assert.deepEqual(
      [head, list],
      ['1 found by duckduckgo', '1. Otter facts\n   https://o.example/?a=1&b=2\n   They dive.'],
    );
    const [got] = site.requests;
    assert.equal(got?.line, 'POST /html/');
    assert.deepEqual(Object.fromEntries(new URLSearchParams(got?.body)), {
      q: 'sea otters',
      kl: 'us-en',
      df: 'd',
    });
    await site.search({ freshness: '2026-01-01to2026-02-01' }, { duckduckgo });
    assert.equal(new URLSearchParams(site.requests[1]?.body).get('df'), '2026-01-01..2026-02-01');
  });

  test('asks any engine that answers in JSON as the settings say', async (t) => {
    const site = await open(t, (_url, reply) =>
      json(reply, {
        data: { items: [{ name: 'Otter', link: { href: 'https://o.example/' }, text: 'Dives.' }] },
      }),
    );
    const { head, list } = read(
      await site.search(
        { query: 'a & b', count: 2 },
        {
          json: {
            url: `${site.url}/find?text={query}&n={count}`,
            headers: { 'x-key': 'secret://brave' },
            results: 'data.items',
            fields: { title: 'name', url: 'link.href', snippet: 'text' },
          },
        },
      ),
    );
    assert.deepEqual([head, list], ['1 found by json', '1. Otter\n   https://o.example/\n   Dives.']);
    assert.deepEqual(queryOf(site), { text: 'a & b', n: '2' });
    assert.equal(site.requests[0]?.headers['x-key'], 'real-key');
  });

  test('goes on to the next engine and says what was wrong with those before', async (t) => {
    const site = await open(t, (url, reply) => {
      if (url.pathname.startsWith('/res/')) return json(reply, { error: 'too many' }, 429);
      if (url.pathname === '/odd/search') return void reply.end('<html>');
      return json(reply, { results: [] });
    });
    const result = await site.search(
      {},
      {
        brave: { apiKey: 'k', baseUrl: site.url },
        searxng: { baseUrl: `${site.url}/odd` },
        json: {
          url: `${site.url}/j?q={query}`,
          headers: {},
          results: 'results',
          fields: { title: 't', url: 'u', snippet: 's' },
        },
      },
    );
    assert.equal(
      textOf(result),
      'Nothing found by json [before it brave: it answered 429; searxng: its answer is no JSON]',
    );
  });

  test('names the setting that is missing, a secret that is gone, and a page that asks for a person', async (t) => {
    const site = await open(t, (_url, reply) =>
      reply
        .writeHead(202, { 'content-type': 'text/html' })
        .end('<html><body><form id="challenge-form"></form></body></html>'),
    );
    const unset = await site.search({}, { duckduckgo: { baseUrl: site.url } });
    assert.ok(!unset.ok && unset.code === 'ExecutionFailed');
    assert.equal(
      unset.message,
      'no search engine answered. duckduckgo: it asks for proof that a person is searching; brave: no key is set: web.search.brave.apiKey, or BRAVE_API_KEY; searxng: no address is set: web.search.searxng.baseUrl, or SEARXNG_BASE_URL; json: no address is set: web.search.json.url',
    );
    const broken = { apiKey: 'a\nb', baseUrl: site.url };
    const unsent = await site.search({}, { order: ['brave'], brave: broken });
    assert.match(unsent.ok ? '' : unsent.message, /brave: it cannot be asked: look at its settings$/);
    const gone = await site.search(
      {},
      { order: ['brave'], brave: { apiKey: 'secret://gone', baseUrl: site.url } },
    );
    assert.match(gone.ok ? '' : gone.message, /brave: the secret "gone" of the tenant default is not set$/);
  });

  test('R5 an engine of one’s own net is open by its setting alone, and closed by what the operator blocks', async (t) => {
    const site = await open(t, (url, reply) => {
      if (url.pathname === '/to/search')
        return void reply.writeHead(302, { location: 'http://127.0.0.2/' }).end();
      json(reply, { results: [] });
    });
    const to = await site.search({}, { order: ['searxng'], searxng: { baseUrl: `${site.url}/to` } });
    assert.match(to.ok ? '' : to.message, /searxng: it may not be asked \(loopback\)$/);
    const blocked = await site.search(
      {},
      { order: ['brave'], brave: { apiKey: 'k' } },
      { blockedDomains: ['brave.com'] },
    );
    assert.match(blocked.ok ? '' : blocked.message, /brave: it may not be asked \(blocked_domain\)$/);
  });

  test('refuses what no engine could read', async (t) => {
    const site = await open(t, (_url, reply) => json(reply, {}));
    const wrong: readonly (readonly [Record<string, unknown>, RegExp])[] = [
      [{ count: 11 }, /count: /],
      [{ freshness: 'lately' }, /freshness: must be pd, pw/],
      [{ country: 'Germany' }, /country: must be two letters/],
      [{ query: ' ' }, /query: /],
    ];
    for (const [args, message] of wrong) {
      const result = await site.search(args, {});
      assert.ok(!result.ok && result.code === 'InvalidArgs');
      assert.match(result.message, message);
    }
  });
});
