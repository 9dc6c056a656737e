/** A browser as the API sees it: it keeps the cookie, and sends what a page of the console sends. */
import assert from 'node:assert/strict';
import type { Answer, TestApi } from '#test/support/stack.ts';

export interface BrowserClient {
  /** `name=value` of the newest cookie. */
  cookie(): string;
  /** The whole of the last Set-Cookie. */
  setCookie(): string;
  csrf(): string;
  login(body: object, headers?: Record<string, string>): Promise<Answer>;
  /** Loads the page again. */
  resume(): Promise<Answer>;
  ask(
    method: string,
    path: string,
    more?: { readonly body?: unknown; readonly headers?: Record<string, string> },
  ): Promise<Answer>;
}

export function openBrowserClient(api: Pick<TestApi, 'url' | 'ask'>): BrowserClient {
  let cookie = '';
  let setCookie = '';
  let csrf = '';
  const ask: BrowserClient['ask'] = async (method, path, { body, headers } = {}) => {
    const answer = await api.ask(method, path, {
      body,
      key: null,
      headers: {
        origin: api.url,
        'sec-fetch-site': 'same-origin',
        ...(cookie && { cookie }),
        ...(csrf && { 'x-csrf-token': csrf }),
        ...headers,
      },
    });
    const [sent] = answer.headers.getSetCookie();
    if (sent !== undefined) {
      setCookie = sent;
      cookie = sent.split(';')[0] ?? '';
    }
    if (typeof answer.body?.csrf_token === 'string') csrf = answer.body.csrf_token;
    return answer;
  };
  return {
    cookie: () => cookie,
    setCookie: () => setCookie,
    csrf: () => csrf,
    login: (body, headers) => ask('POST', '/console/login', { body, headers }),
    resume: () => ask('POST', '/console/session'),
    ask,
  };
}

/** A browser that is logged in with the key. */
export async function loggedIn(api: Pick<TestApi, 'url' | 'ask'>, key: string): Promise<BrowserClient> {
  const browser = openBrowserClient(api);
  const { status, body } = await browser.login({ key });
  assert.equal(status, 200, JSON.stringify(body));
  return browser;
}
