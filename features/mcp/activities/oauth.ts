/**
 * Logins of MCP servers over HTTP (MCP authorization; RFC 9728, 8414, 7591, 7636, 8707, 9207; client ID metadata
 * documents), with the SDK's helpers. All requests use the egress client. The registration, the tokens and a login
 * under way are stored sealed, for a server or for one user of it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  auth,
  type AuthProvider,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  OAuthError,
  type OAuthClientInformationMixed,
  type OAuthDiscoveryState,
  type OAuthTokens,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import type { Egress } from '#activities/egress/create-egress.ts';
import { Failure } from '#domain/errors.ts';
import { mcpClientMetadata } from '../contract/mcp-login.ts';
import type { UrlRules } from '@tempoclaw/egress/rules';
import { isRecord } from '#domain/outside-value.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import {
  changeMcpCredentials,
  claimMcpLogin,
  claimRefresh,
  type CredentialDeps,
  findMcpCredentials,
  findMcpLogin,
  type McpOwner,
  NO_CREDENTIALS,
} from '../store/mcp-credential-store.ts';
import { askForCheck, type McpServerToUse } from '../store/mcp-server-store.ts';
import { LoginNeeded, McpAway } from './mcp-away.ts';

export interface OAuthDeps extends CredentialDeps {
  readonly egress: Egress;
  readonly rulesOf: (tenant: string) => Promise<UrlRules>;
}

/** Our identity at an authorization server, and its address. */
interface Registration {
  readonly client: OAuthClientInformationMixed;
  readonly discovery: OAuthDiscoveryState;
  readonly redirectUrl: string;
}

interface Login extends Registration {
  readonly tokens: OAuthTokens;
  /** Milliseconds since 1970; undefined when the tokens do not say. */
  readonly expiresAt?: number | undefined;
}

interface Pending extends Registration {
  readonly verifier: string;
}

/** RFC 6749, 5.2. */
const INVALID_GRANT = 'invalid_grant';
/** A person has this long to log in. */
const LOGIN_SECONDS = 600;
/** A token that expires this soon is refreshed before it is used. */
const EARLY_MS = 30_000;
/** Milliseconds between two checks whether another worker has refreshed it. */
const LOOK_MS = 200;
/** Bytes of one answer of an authorization server. */
const ANSWER_BYTES = 1_048_576;

/** Logins of people and of servers. An empty user means a login that is for all. */
export type McpLogins = ReturnType<typeof createMcpLogins>;

export function createMcpLogins(deps: OAuthDeps) {
  return {
    /**
     * The address at which a person logs in. `clientId` is the address of our metadata, for authorization servers that
     * read it; others must register us. @throws Failure Unprocessable when the server offers no login that we support.
     */
    async start(
      { tenant, id, name, config: seen }: McpServerToUse,
      user: string,
      redirectUrl: string,
      clientId: string | undefined,
    ): Promise<{ url: string; expiresAt: Date }> {
      const owner = { tenant, server: id, user };
      const { url } = seen;
      const before = loginOf((await findMcpCredentials(deps, owner))?.kept.oauth);
      const state = randomBytes(32).toString('base64url');
      let client = before?.redirectUrl === redirectUrl ? before.client : undefined;
      let discovery: OAuthDiscoveryState | undefined;
      let verifier = '';
      let address: URL | undefined;
      await asking(deps, tenant, name, async (fetchFn) => {
        const challenge = await fetchFn(url, { headers: { accept: 'text/event-stream' } });
        await challenge.body?.cancel();
        const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(challenge);
        await auth(
          {
            redirectUrl,
            clientMetadata: mcpClientMetadata(redirectUrl),
            ...(clientId !== undefined && { clientMetadataUrl: clientId }),
            state: () => state,
            clientInformation: () => client,
            saveClientInformation: (made) => void (client = made),
            // A new login must get new tokens.
            tokens: () => undefined,
            saveTokens: () => undefined,
            codeVerifier: () => verifier,
            saveCodeVerifier: (made) => void (verifier = made),
            saveDiscoveryState: (found) => void (discovery = found),
            redirectToAuthorization: (made) => void (address = made),
          },
          { serverUrl: url, resourceMetadataUrl, scope, fetchFn },
        );
      });
      if (!address || !client || !discovery) throw new Error('the SDK has begun no login');
      const pending: Pending = { client, discovery, redirectUrl, verifier };
      await changeMcpCredentials(deps, owner, (kept = NO_CREDENTIALS) => ({ ...kept, pending }), {
        seen,
        login: { hash: hashState(state), seconds: LOGIN_SECONDS },
      });
      return { url: address.href, expiresAt: new Date(Date.now() + LOGIN_SECONDS * 1000) };
    },

    find: (state: string) => findMcpLogin(deps.pool, hashState(state)),

    async finish({
      state,
      code,
      iss,
    }: {
      readonly state: string;
      readonly code: string;
      readonly iss: string | undefined;
    }): Promise<McpOwner | undefined> {
      // This uses it up: a second answer with the same `state` finds nothing.
      const claimed = await claimMcpLogin(deps, hashState(state));
      const pending = claimed?.kept.pending as Pending | undefined;
      if (!claimed || !pending) return undefined;
      const { owner, name, config: seen } = claimed;
      const { verifier, ...registration } = pending;
      const { client, discovery, redirectUrl } = registration;
      const tokens = await asking(deps, owner.tenant, name, (fetchFn) =>
        exchangeAuthorization(discovery.authorizationServerUrl, {
          ...clientContext(discovery, client),
          authorizationCode: code,
          iss,
          codeVerifier: verifier,
          redirectUri: redirectUrl,
          fetchFn,
        }),
      );
      const oauth = loginWith(registration, tokens);
      const change = (kept = NO_CREDENTIALS) => ({ ...kept, oauth, pending: undefined });
      await changeMcpCredentials(deps, owner, change, { seen, isNew: true });
      await askForCheck(
        forTenant(deps.pool, owner.tenant),
        owner.server,
        owner.user === '',
        owner.user || null,
      );
      return { ...owner, server: name };
    },
  };
}

export interface TokenUse extends AuthProvider {
  /** Must be used for the requests that carry the tokens. */
  readonly fetch: typeof fetch;
}

/** The token of each request, refreshed when it expires; `learn` gets each token, to hide it. */
export function authProviderOf(
  deps: OAuthDeps,
  { tenant, id, name }: McpServerToUse,
  user: string,
  fetchFn: typeof fetch,
  learn: (values: readonly string[]) => void,
): TokenUse {
  const owner = { tenant, server: id, user };
  // Which token each response refused: several requests may find the same one expired, and only the first refreshes it.
  const sentWith = new WeakMap<Response, string>();
  let used: Login | undefined;
  let isRead = false;
  const take = (login: Login | undefined): void => {
    used = login;
    isRead = true;
    if (login) learn([login.tokens.access_token, login.tokens.refresh_token ?? '']);
  };
  return {
    async token() {
      // Runs once: after a login there is a new connection.
      if (!isRead) take(loginOf((await findMcpCredentials(deps, owner))?.kept.oauth));
      if (used?.tokens.refresh_token && (used.expiresAt ?? Infinity) < Date.now() + EARLY_MS)
        take(await refreshed(deps, owner, name, used.tokens.access_token));
      return used?.tokens.access_token;
    },
    async onUnauthorized({ response }) {
      take(await refreshed(deps, owner, name, sentWith.get(response)));
    },
    async fetch(input, init) {
      const response = await fetchFn(input, init);
      const [, token] = /^Bearer (.+)$/.exec(new Headers(init?.headers).get('authorization') ?? '') ?? [];
      if (token !== undefined) sentWith.set(response, token);
      return response;
    },
  };
}

/**
 * New tokens in place of `refused`, from this worker or from another that was first. The lease ends the wait for one
 * that died.
 */
async function refreshed(
  deps: OAuthDeps,
  owner: McpOwner,
  name: string,
  refused: string | undefined,
): Promise<Login> {
  for (;;) {
    const row = await findMcpCredentials(deps, owner);
    const login = loginOf(row?.kept.oauth);
    if (login && login.tokens.access_token !== refused) return login;
    const { refresh_token } = login?.tokens ?? {};
    if (!row || !login || refresh_token === undefined)
      throw refusal(owner, name, `the MCP server ${name} does not take its credentials, or wants a login`);
    if (!(await claimRefresh(deps.pool, owner, row.revision))) {
      await pause(LOOK_MS);
      continue;
    }
    // It must not replace a login that came in the meantime, nor one that was ended.
    const replace = (oauth: Login | undefined): Promise<void> =>
      changeMcpCredentials(deps, owner, (kept) =>
        loginOf(kept?.oauth)?.tokens.access_token === login.tokens.access_token
          ? { ...NO_CREDENTIALS, ...kept, oauth }
          : kept,
      );
    const tokens = await withClient(deps, owner.tenant, (fetchFn) =>
      refreshAuthorization(login.discovery.authorizationServerUrl, {
        ...clientContext(login.discovery, login.client),
        refreshToken: refresh_token,
        fetchFn,
      }),
    ).catch(async (error: unknown) => {
      // What is refused once is refused to the next as well; either way, the next need not wait for the lease.
      await replace(error instanceof OAuthError && error.code === INVALID_GRANT ? undefined : login);
      throw refusal(owner, name, failedWords(name, error));
    });
    const oauth = loginWith(login, tokens);
    await replace(oauth);
    return oauth;
  }
}

/** A user is asked for the login; for all, an admin has to begin it. */
function refusal({ user }: McpOwner, name: string, why: string): Error {
  return user === ''
    ? new McpAway(`${why}; begin one with: npx tempoclaw mcp login ${name}`)
    : new LoginNeeded(`${why} of the user ${user}`);
}

function clientContext(
  { authorizationServerMetadata, resourceMetadata }: OAuthDiscoveryState,
  client: Registration['client'],
) {
  return {
    clientInformation: client,
    ...(authorizationServerMetadata && { metadata: authorizationServerMetadata }),
    ...(resourceMetadata && { resource: resourceMetadata.resource }),
  };
}

function loginWith({ client, discovery, redirectUrl }: Registration, tokens: OAuthTokens): Login {
  const { expires_in } = tokens;
  const expiresAt = expires_in === undefined ? undefined : Date.now() + expires_in * 1000;
  return { client, discovery, redirectUrl, tokens, expiresAt };
}

function loginOf(kept: unknown): Login | undefined {
  return isRecord(kept) ? (kept as unknown as Login) : undefined;
}

/** Their answer is not repeated, because it may contain what we have sent. */
function failedWords(name: string, error: unknown): string {
  const why = error instanceof Error ? error.message.slice(0, 300) : '';
  return `the login at the MCP server ${name} failed: ${error instanceof OAuthError ? error.code : why}`;
}

async function withClient<Answer>(
  { egress, rulesOf }: OAuthDeps,
  tenant: string,
  ask: (fetchFn: typeof fetch) => Promise<Answer>,
): Promise<Answer> {
  const rules = await rulesOf(tenant);
  const client = egress.open({
    labels: { tenant, purpose: 'mcp_oauth' },
    rules,
    limits: { bytes: ANSWER_BYTES },
  });
  try {
    return await ask(client.fetch);
  } finally {
    await client.close();
  }
}

/** Runs requests for a person who waits. @throws Failure */
async function asking<Answer>(
  deps: OAuthDeps,
  tenant: string,
  name: string,
  ask: (fetchFn: typeof fetch) => Promise<Answer>,
): Promise<Answer> {
  return withClient(deps, tenant, (fetchFn) =>
    ask(fetchFn).catch((error: unknown) => {
      throw new Failure('Unprocessable', failedWords(name, error));
    }),
  );
}

function hashState(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}
