/**
 * The address that a redirect leads to, as browsers follow it (Fetch standard, HTTP-redirect fetch), and the headers
 * that are sent there.
 */
import { EgressError } from './egress-error.ts';

export interface Hop {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | null;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Undefined when the answer is no redirect. Throws EgressError for one that may not be followed. */
export function nextHop(
  hop: Hop,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
): Hop | undefined {
  const location = headers.get('location');
  if (!REDIRECTS.has(status) || location === null) return undefined;
  if (!URL.canParse(location, hop.url))
    throw new EgressError('malformed', `${hop.url} leads to an address that cannot be read`);
  // Not canonicalized here, because the judge must see what was written.
  const url = /^[a-z][a-z0-9+.-]*:/i.test(location) ? location : new URL(location, hop.url).href;
  if (/^https:/i.test(hop.url) && !/^https:/i.test(url))
    throw new EgressError(
      'scheme',
      `${hop.url} leads from https to ${URL.parse(url)?.protocol.slice(0, 20) ?? 'another scheme'}`,
      true,
    );
  const isGet =
    (status === 303 && hop.method !== 'HEAD') ||
    ((status === 301 || status === 302) && hop.method === 'POST');
  return isGet ? { url, method: 'GET', headers: withoutBody(hop.headers), body: null } : { ...hop, url };
}

function withoutBody(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ['content-type', 'content-length', 'content-encoding', 'content-language'])
    kept.delete(name);
  return kept;
}

/** Headers for one origin are not sent to another. */
export function withoutSecrets(headers: Headers, from: string, to: string): Headers {
  if (URL.canParse(to) && new URL(from).origin === new URL(to).origin) return headers;
  // Any header may be a key, so only headers about the form of the answer are kept.
  return new Headers([...headers].filter(([name]) => name.startsWith('accept') || name === 'user-agent'));
}
