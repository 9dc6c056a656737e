/** Search engines, each with its own protocol: its address, its query, and what its answer contains. */
import { z } from 'zod';
import { fieldOf } from '#domain/outside-value.ts';
import { readApart } from '../pages/read-apart.ts';
import type { FoundPage } from '../pages/read-html.ts';
import type { SearchEngineName, WebSearchSettings } from './settings.ts';

export interface SearchQuery {
  readonly query: string;
  readonly count: number;
  readonly country?: string | undefined;
  readonly search_lang?: string | undefined;
  readonly ui_lang?: string | undefined;
  /** pd, pw, pm, py, or `2026-01-01to2026-02-01`. */
  readonly freshness?: string | undefined;
}

/** Why an engine returned nothing, in words for the model. */
export class SearchProblem extends Error {}

export interface EngineParts {
  readonly settings: WebSearchSettings;
  readonly fetch: typeof globalThis.fetch;
  /** Replaces `secret://NAME` with secrets. */
  readonly resolveSecret: (text: string) => Promise<string>;
  readonly signal: AbortSignal;
}

interface Engine {
  /**
   * Its address: the operator's own, or the usual one. Returns undefined when it is not configured; `needs` says what
   * it requires.
   */
  readonly place: (
    settings: WebSearchSettings,
  ) => { readonly url: string; readonly isOwn: boolean } | undefined;
  readonly needs: string;
  readonly search: (parts: EngineParts, base: string, query: SearchQuery) => Promise<readonly FoundPage[]>;
}

export const ENGINES: Readonly<Record<SearchEngineName, Engine>> = {
  brave: {
    place: ({ brave }) => (brave.apiKey ? placeOf(brave.baseUrl, 'https://api.search.brave.com') : undefined),
    needs: 'no key is set: web.search.brave.apiKey, or BRAVE_API_KEY',
    search: searchBrave,
  },
  searxng: {
    place: ({ searxng }) => (searxng.baseUrl ? placeOf(searxng.baseUrl, '') : undefined),
    needs: 'no address is set: web.search.searxng.baseUrl, or SEARXNG_BASE_URL',
    search: searchSearxng,
  },
  json: {
    place: ({ json }) => (json ? placeOf(json.url, '') : undefined),
    needs: 'no address is set: web.search.json.url',
    search: searchJson,
  },
  duckduckgo: {
    place: ({ duckduckgo }) => placeOf(duckduckgo.baseUrl, 'https://html.duckduckgo.com'),
    needs: '',
    search: searchDuckDuckGo,
  },
};

function placeOf(own: string | undefined, usual: string): { url: string; isOwn: boolean } {
  return { url: own ?? usual, isOwn: own !== undefined };
}

/** https://api-dashboard.search.brave.com/app/documentation/web-search */
async function searchBrave(parts: EngineParts, base: string, query: SearchQuery): Promise<FoundPage[]> {
  const { country, search_lang, ui_lang, freshness } = query;
  const url = address(base, 'res/v1/web/search', {
    q: query.query,
    count: String(query.count),
    country: country?.toUpperCase(),
    search_lang: search_lang?.toLowerCase(),
    ui_lang,
    freshness,
    text_decorations: 'false',
  });
  const key = await parts.resolveSecret(parts.settings.brave.apiKey ?? '');
  const answer = await askJson(parts, url, { 'x-subscription-token': key });
  const results = listAt(answer, 'web.results', true);
  return results.map((one) => found(one, { title: 'title', url: 'url', snippet: 'description' }));
}

const RANGES: Readonly<Record<string, string>> = { pd: 'day', pw: 'week', pm: 'month', py: 'year' };

/** https://docs.searxng.org/dev/search_api.html */
async function searchSearxng(parts: EngineParts, base: string, query: SearchQuery): Promise<FoundPage[]> {
  const { search_lang: language, country, freshness = '' } = query;
  const url = address(base, 'search', {
    q: query.query,
    format: 'json',
    language: language && country ? `${language}-${country.toUpperCase()}` : language,
    time_range: RANGES[freshness],
  });
  const answer = await askJson(
    parts,
    url,
    {},
    { 403: 'its JSON format is not enabled (search.formats of its settings)' },
  );
  return listAt(answer, 'results').map((one) =>
    found(one, { title: 'title', url: 'url', snippet: 'content' }),
  );
}

async function searchJson(parts: EngineParts, base: string, query: SearchQuery): Promise<FoundPage[]> {
  const { headers = {}, results = '', fields } = parts.settings.json ?? {};
  const url = (await parts.resolveSecret(base))
    .replaceAll('{query}', () => encodeURIComponent(query.query))
    .replaceAll('{count}', String(query.count));
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) sent[name] = await parts.resolveSecret(value);
  const answer = await askJson(parts, url, sent);
  return fields ? listAt(answer, results).map((one) => found(one, fields)) : [];
}

/**
 * Uses the page that needs no scripts. Its values for languages are like `us-en`, for time spans `d` or
 * `2026-01-01..2026-02-01`.
 */
async function searchDuckDuckGo(
  parts: EngineParts,
  base: string,
  query: SearchQuery,
): Promise<readonly FoundPage[]> {
  const { country, search_lang, freshness } = query;
  const form = Object.entries({
    q: query.query,
    kl: country ? `${country.toLowerCase()}-${search_lang ?? 'en'}` : undefined,
    df: RANGES[freshness ?? ''] ? freshness?.slice(1) : freshness?.replace('to', '..'),
  }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]]));
  const url = address(base, 'html/', {});
  const headers = { 'user-agent': 'Mozilla/5.0 (compatible; TempoClaw)' };
  const html = await ask(parts, url, { method: 'POST', headers, body: new URLSearchParams(form) });
  const results = z
    .array(z.object({ title: z.string(), url: z.string(), snippet: z.string() }))
    .nullable()
    .parse(JSON.parse(await readApart({ how: 'duckduckgo', html, url }, parts.signal)));
  if (results === null) throw new SearchProblem('it asks for proof that a person is searching');
  return results;
}

function address(base: string, path: string, values: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(path, base.endsWith('/') ? base : `${base}/`);
  for (const [name, value] of Object.entries(values))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

type Hints = Readonly<Record<number, string>>;

async function ask(parts: EngineParts, url: string, init: RequestInit, hints: Hints = {}): Promise<string> {
  const response = await parts.fetch(url, { ...init, signal: parts.signal });
  const text = await response.text();
  if (response.ok) return text;
  const hint =
    hints[response.status] ?? (/^40[13]$/.test(String(response.status)) ? 'look at its key' : undefined);
  throw new SearchProblem(`it answered ${response.status}${hint === undefined ? '' : `: ${hint}`}`);
}

async function askJson(
  parts: EngineParts,
  url: string,
  headers: Readonly<Record<string, string>>,
  hints?: Hints,
): Promise<unknown> {
  const text = await ask(parts, url, { headers: { accept: 'application/json', ...headers } }, hints);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new SearchProblem('its answer is no JSON');
  }
}

function valueAt(value: unknown, path: string): unknown {
  const steps = path === '' ? [] : path.split('.');
  return steps.reduce(
    (at, step) =>
      typeof at === 'object' && at !== null ? fieldOf(at as Record<string, unknown>, step) : undefined,
    value,
  );
}

/** `mayLack` means that the engine omits the list if nothing is found. */
function listAt(answer: unknown, path: string, mayLack = false): readonly unknown[] {
  const list = valueAt(answer, path);
  if (Array.isArray(list)) return list;
  if (mayLack && list === undefined) return [];
  throw new SearchProblem(`its answer has no list at "${path}"`);
}

function found(
  one: unknown,
  at: { readonly title: string; readonly url: string; readonly snippet: string },
): FoundPage {
  const textAt = (path: string): string => {
    const value = valueAt(one, path);
    return typeof value === 'string' ? plain(value) : '';
  };
  return { title: textAt(at.title), url: textAt(at.url), snippet: textAt(at.snippet) };
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#x27': "'",
  nbsp: ' ',
};

/** Removes what engines add to texts for display. */
function plain(text: string): string {
  return text
    .replace(/<\/?(?:strong|b|em|i|mark|span|br)\b[^>]{0,200}>/gi, '')
    .replace(
      /&([a-z]{2,4}|#39|#x27);/gi,
      (whole, name: string) => fieldOf(ENTITIES, name.toLowerCase()) ?? whole,
    );
}
