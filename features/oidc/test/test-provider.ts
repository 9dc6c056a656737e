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
  /** While true, connections are closed without an answer. */
  isAway: boolean;
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

export async function startTestProvider(clients: readonly object[] = []): Promise<TestProvider> {
  const persons = new Map<string, JWTPayload>();
  const asked: string[] = [];
  let count = 0;
  let current = await makeKey();
  let callback: ReturnType<Provider['callback']>;
  const server = createServer((request, response) => {
    if (made.isAway) return request.socket.destroy();
    asked.push(new URL(request.url ?? '/', 'http://x').pathname);
    return void callback(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function makeKey() {
    const pair = await generateKeyPair('RS256', { extractable: true });
    count += 1;
    return { ...pair, kid: `key-${count}` };
  }

  async function serve(): Promise<void> {
    const jwk = { ...(await exportJWK(current.privateKey)), kid: current.kid, alg: 'RS256', use: 'sig' };
    callback = new Provider(issuer, configuration(jwk, persons, clients)).callback();
  }

  const made: TestProvider = {
    issuer,
    persons,
    asked,
    isAway: false,
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
  persons: ReadonlyMap<string, JWTPayload>,
  clients: readonly object[],
): object {
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
      ...clients,
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
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
  };
}
