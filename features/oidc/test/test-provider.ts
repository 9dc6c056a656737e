/** A real identity provider on a socket, whose persons and keys a test chooses. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { type Config, loadConfig } from '#config';
import { Provider } from 'oidc-provider';

export const API = 'https://tempoclaw.example';

export interface TestProvider {
  readonly issuer: string;
  /** Claims of each person by the name, which a test may change. */
  readonly persons: Map<string, JWTPayload>;
  /** Paths that were asked. */
  readonly asked: string[];
  /** The secret of every client. */
  readonly secret: string;
  /** Seconds for which an id_token is valid. */
  life: number;
  /** While true, connections are closed without an answer. */
  isAway: boolean;
  /** Lets the client `console` send people back to the address after a login, or after a logout. */
  allow(redirect: string, after?: 'login' | 'logout'): Promise<void>;
  /** An access token for the API, from the provider's token endpoint. */
  tokenOf(person: string): Promise<string>;
  /** A token that the provider has not made. By default it is right in everything and signed with the provider's key. */
  sign(claims?: JWTPayload, header?: object, key?: CryptoKey | Uint8Array): Promise<string>;
  /** The public key, as PEM-like text that everyone can get. */
  publicKey(): Promise<string>;
  /** Replaces the key that signs. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
}

/** The settings as a variable has them. */
export function oidcSettings(...issuers: readonly object[]): Config['oidc'] {
  return loadConfig({ env: { TEMPOCLAW_OIDC_ISSUERS: JSON.stringify(issuers) }, cwd: '/nowhere' }).oidc;
}

const SECRET = 'secret-of-a-test-client-0123456789';

/** `host` is what it calls itself. */
export async function startTestProvider(host = '127.0.0.1'): Promise<TestProvider> {
  const persons = new Map<string, JWTPayload>();
  const asked: string[] = [];
  const redirects = { login: [] as string[], logout: [] as string[] };
  let count = 0;
  let current = await makeKey();
  let callback: ReturnType<Provider['callback']>;
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '/', 'http://x').pathname);
    if (made.isAway) return request.socket.destroy();
    return void callback(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`;

  async function makeKey() {
    const pair = await generateKeyPair('RS256', { extractable: true });
    count += 1;
    return { ...pair, kid: `key-${count}` };
  }

  async function serve(): Promise<void> {
    const jwk = { ...(await exportJWK(current.privateKey)), kid: current.kid, alg: 'RS256', use: 'sig' };
    callback = new Provider(issuer, configuration(jwk, made, redirects)).callback();
  }

  const made: TestProvider = {
    issuer,
    persons,
    asked,
    secret: SECRET,
    life: 300,
    isAway: false,
    async allow(redirect, after = 'login') {
      redirects[after].push(redirect);
      await serve();
    },
    async tokenOf(person) {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: person,
          client_secret: SECRET,
          resource: API,
        }),
      });
      const { access_token: token } = (await response.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`no token of ${person}: HTTP ${response.status}`);
      return token;
    },
    sign: (claims = {}, header = {}, key = current.privateKey) => {
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: issuer, aud: API, sub: 'ann', iat: now, exp: now + 300, org: 'acme' };
      return new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: current.kid, typ: 'at+jwt', ...header })
        .sign(key);
    },
    publicKey: async () => JSON.stringify(await exportJWK(current.publicKey)),
    async rotate() {
      current = await makeKey();
      await serve();
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  await serve();
  return made;
}

/** Persons are clients that ask for themselves, and accounts of the login page. */
function configuration(
  jwk: object,
  made: TestProvider,
  redirects: Readonly<Record<'login' | 'logout', string[]>>,
): object {
  const { persons } = made;
  return {
    jwks: { keys: [jwk] },
    cookies: { keys: ['of-a-test'] },
    clients: [
      ...['ann', 'bea', 'cyd', 'eve'].map((client_id) => ({
        client_id,
        client_secret: SECRET,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'client_secret_post',
      })),
      {
        client_id: 'console',
        client_secret: SECRET,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: redirects.login,
        post_logout_redirect_uris: redirects.logout,
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        getResourceServerInfo: () => ({
          scope: '',
          audience: API,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (_context: unknown, token: { readonly clientId: string }) =>
      persons.get(token.clientId),
    claims: { openid: ['sub', 'org', 'groups', 'name'] },
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, accountId: string) => {
      const claims = persons.get(accountId);
      return claims && { accountId, claims: () => ({ ...claims, sub: accountId }) };
    },
    issueRefreshToken: () => true,
    ttl: {
      IdToken: () => made.life,
      AccessToken: 300,
      RefreshToken: 3_600,
      Grant: 3_600,
      Session: 3_600,
      Interaction: 600,
    },
  };
}

export interface LoginPages {
  /** Goes through the pages as the person. Returns where the provider sends the browser in the end. */
  logIn(location: string, person: string): Promise<string>;
  /** Confirms that the person wants to log out. Returns where the provider sends the browser in the end. */
  logOut(location: string): Promise<string>;
  /** What the pages have asked for, such as `login` and `consent`. */
  readonly prompts: string[];
}

/** A browser at the provider's pages: it keeps cookies, follows redirects and sends forms. */
export function openLoginPages(): LoginPages {
  const cookies = new Map<string, string>();
  async function go(url: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.split(';')[0]?.split('=') ?? [];
      cookies.set(name, value);
    }
    return response;
  }
  const prompts: string[] = [];
  return {
    prompts,
    async logOut(location) {
      const page = await (await go(location)).text();
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
      const xsrf = /name="xsrf" value="(\w+)"/.exec(page)?.[1];
      if (action === undefined || xsrf === undefined) throw new Error(`no form: ${page.slice(0, 2_000)}`);
      return (await go(action, { xsrf, logout: 'yes' })).headers.get('location') ?? '';
    },
    async logIn(location, person) {
      const { origin } = new URL(location);
      let response = await go(location);
      for (let steps = 0; steps < 20; steps += 1) {
        const next = response.headers.get('location');
        if (next !== null && new URL(next, origin).origin !== origin) return next;
        if (next !== null) response = await go(new URL(next, origin).href);
        else {
          const page = await response.text();
          const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
          const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
          if (action === undefined || prompt === undefined)
            throw new Error(`no form: ${page.slice(0, 2_000)}`);
          prompts.push(prompt);
          response = await go(action, { prompt, login: person, password: 'x' });
        }
      }
      throw new Error('the provider sends the browser nowhere');
    },
  };
}
