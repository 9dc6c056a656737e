/** Requests pages through egress, and returns them as text. */
import type { RunningCall } from '#policy/define-tool.ts';
import { type EgressClient, EgressError } from '@tempoclaw/egress';
import type { Egress } from '#activities/egress/create-egress.ts';
import { type CachedPage, createPageCache, type Page } from './page-cache.ts';
import { type PageMode, pageText } from './page-text.ts';

export interface PageRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly mode: PageMode;
}

/** Whose request it is; a RunningCall is one. */
export type PageCaller = Pick<RunningCall, 'tenant' | 'callId' | 'egress' | 'signal'>;

export interface WebPages {
  /** @throws EgressError when nothing comes back, and the signal's reason. */
  read(caller: PageCaller, request: PageRequest): Promise<Page>;
}

const STANDARD_HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; TempoClaw)',
  accept:
    'text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.9,application/pdf;q=0.8,*/*;q=0.5',
};

export function createWebPages(egress: Egress, now: () => number): WebPages {
  const cache = createPageCache(now);
  return {
    async read(caller, request) {
      const key = cacheKey(caller, request);
      const cached = key === undefined ? undefined : cache.get(key);
      if (cached?.isFresh) return cached.page;
      const { tenant, callId, egress: rules, signal } = caller;
      const client = egress.open({ labels: { tenant, purpose: 'web_fetch', callId }, rules });
      try {
        const { response, body } = await ask(client, request, conditionsOf(cached), signal);
        if (response.status === 304 && key !== undefined && cached) {
          cache.put(key, cached);
          return cached.page;
        }
        const page = await pageOf(request, response, body, signal);
        if (key !== undefined && mayKeep(response, body)) {
          const { headers } = response;
          cache.put(key, { page, etag: headers.get('etag'), lastModified: headers.get('last-modified') });
        }
        return page;
      } finally {
        await client.close();
      }
    },
  };
}

function conditionsOf(cached: CachedPage | undefined): Readonly<Record<string, string>> {
  return {
    ...(cached?.etag ? { 'if-none-match': cached.etag } : {}),
    ...(cached?.lastModified ? { 'if-modified-since': cached.lastModified } : {}),
  };
}

function mayKeep({ status, headers }: Response, { isCut }: Body): boolean {
  return status === 200 && !isCut && !/no-store/i.test(headers.get('cache-control') ?? '');
}

/** Returns undefined for what must be requested each time. */
function cacheKey({ tenant, egress }: PageCaller, request: PageRequest): string | undefined {
  const { method, headers, body, url, mode } = request;
  if (method !== 'GET' || body !== undefined || Object.keys(headers).length > 0) return undefined;
  return JSON.stringify([tenant, egress, url, mode]);
}

interface Body {
  readonly bytes: Uint8Array;
  /** True if it is longer than the limit. */
  readonly isCut: boolean;
}

async function ask(
  client: EgressClient,
  { url, method, headers, body }: PageRequest,
  conditions: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ readonly response: Response; readonly body: Body }> {
  const sent = new Headers({ ...STANDARD_HEADERS, ...conditions });
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  const response = await client.fetch(url, { method, headers: sent, body: body ?? null, signal });
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of response.body ?? []) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof EgressError && error.rule === 'too_large')) throw error;
    return { response, body: { bytes: Buffer.concat(chunks), isCut: true } };
  }
  return { response, body: { bytes: Buffer.concat(chunks), isCut: false } };
}

async function pageOf(
  { mode }: PageRequest,
  { headers, status, url }: Response,
  { bytes, isCut }: Body,
  signal: AbortSignal,
): Promise<Page> {
  const contentType = headers.get('content-type') ?? '';
  const [type = ''] = /^[\w.+-]{1,40}\/[\w.+-]{1,80}/.exec(contentType.trim().toLowerCase()) ?? [];
  const cut = isCut ? [`only its first ${bytes.length} bytes were read`] : [];
  if (bytes.length === 0)
    return {
      url,
      status,
      type,
      text: headerLines(headers),
      notes: ['no content; the headers above', ...cut],
    };
  const { text, notes } = await pageText({ url, type, contentType, bytes }, mode, signal);
  return { url, status, type, text, notes: [...cut, ...notes] };
}

/** The headers, which are the result of a HEAD. */
function headerLines(headers: Headers): string {
  return [...headers]
    .filter(([name]) => name !== 'set-cookie')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
