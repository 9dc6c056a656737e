/**
 * Logs people in at an identity provider: authorization code with PKCE (RFC 6749, 7636, 9207, 9700). What a login needs
 * at its end is sealed in a cookie, so it ends in the browser in which it began.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { ApiKeyRow } from '#store/api-key-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { Failure } from '#domain/errors.ts';
import { type Fields, isText } from '#domain/outside-value.ts';
import { checkToken, type Claims, readToken } from './check-token.ts';
import { keepPerson } from './persons.ts';
import { type Provider, readRecord } from './provider.ts';
import type { IssuerSettings } from './settings.ts';

/** Time to log in at the provider. */
export const LOGIN_SECONDS = 600;
const MAX_TOKEN = 16_000;
const PLACE = 'oidc login';

export interface LoginIssuer {
  readonly settings: IssuerSettings;
  readonly client: NonNullable<IssuerSettings['client']>;
  readonly provider: Provider;
}

/** A person who is logged in, by a token that ends at `until`. */
export interface LoggedIn {
  readonly key: ApiKeyRow;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly refreshToken: string | undefined;
  readonly idToken: string;
}

interface StartedLogin {
  readonly issuer: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirect: string;
  readonly until: number;
}

/** Returns where the browser goes, and what its cookie keeps until it comes back. @throws Failure Unavailable */
export async function beginLogin(
  { settings, client, provider }: LoginIssuer,
  sealer: Sealer,
  redirect: string,
): Promise<{ readonly location: string; readonly kept: string }> {
  const { authorization_endpoint: endpoint } = await provider.readDocument();
  if (endpoint === undefined)
    throw new Failure('Unavailable', `The identity provider ${settings.name} has no page to log in`);
  const [state, nonce, verifier] = [makeSecret(), makeSecret(), makeSecret()];
  const until = Date.now() + LOGIN_SECONDS * 1000;
  const started: StartedLogin = { issuer: settings.issuer, state, nonce, verifier, redirect, until };
  const location = new URL(endpoint);
  const query = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirect,
    scope: client.scope,
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(client.scope.split(' ').includes('offline_access') ? { prompt: 'consent' } : {}),
  };
  for (const [name, value] of Object.entries(query)) location.searchParams.set(name, value);
  const sealed = Buffer.from(sealer.seal(JSON.stringify(started), PLACE), 'base64');
  return { location: location.href, kept: sealed.toString('base64url') };
}

export interface LoginAnswer {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

/** `kept` is what the browser's cookie has. @throws Failure Unauthorized, Forbidden, Unavailable */
export async function finishLogin(
  issuer: LoginIssuer,
  { sealer, pool }: { readonly sealer: Sealer; readonly pool: Pool },
  { code, state, iss, error }: LoginAnswer,
  kept: string | undefined,
): Promise<LoggedIn> {
  const started = kept === undefined ? undefined : openKept(sealer, kept);
  if (
    !started ||
    started.issuer !== issuer.settings.issuer ||
    started.state !== state ||
    started.until < Date.now()
  )
    throw failed(issuer, 'it did not begin in this browser, or took too long; log in again');
  if (iss !== undefined && iss !== started.issuer) throw failed(issuer, 'another provider answered');
  if (code === undefined) throw failed(issuer, `it answers ${codeOf(error)}`);
  const { verifier, redirect, nonce } = started;
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: verifier };
  return logIn(issuer, pool, grant, { nonce });
}

/** Logs the person in again. @throws Failure, also when the provider says no more who it is, or the key is gone */
export async function refreshLogin(
  issuer: LoginIssuer,
  pool: Pool,
  refreshToken: string,
): Promise<LoggedIn & { readonly refreshToken: string }> {
  const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const found = await logIn(issuer, pool, grant, { isRenewed: true });
  // A provider that rotates no tokens sends none.
  return { ...found, refreshToken: found.refreshToken ?? refreshToken };
}

async function logIn(
  issuer: LoginIssuer,
  pool: Pool,
  grant: Readonly<Record<string, string>>,
  { nonce, isRenewed = false }: { readonly nonce?: string; readonly isRenewed?: boolean },
): Promise<LoggedIn> {
  const { id_token: idToken, refresh_token: refresh } = await requestTokens(issuer, grant);
  const claims = await checkIdToken(issuer, idToken);
  if (nonce !== undefined && claims['nonce'] !== nonce)
    throw failed(issuer, 'its token is for another login');
  const key = await keepPerson(pool, issuer.settings, claims, { isRenewed });
  return {
    key,
    until: claims.exp * 1000,
    refreshToken: isText(refresh, MAX_TOKEN) ? refresh : undefined,
    idToken: String(idToken),
  };
}

async function checkIdToken(issuer: LoginIssuer, text: unknown): Promise<Claims> {
  const { settings, client, provider } = issuer;
  const token = typeof text === 'string' ? readToken(text) : undefined;
  if (!token) throw failed(issuer, 'it sends no id_token');
  const claims = await checkToken(token, provider.findKey, {
    ...settings,
    audience: [client.id],
    types: ['JWT'],
  });
  const isShared = Array.isArray(claims.aud) && claims.aud.length > 1;
  if ((isShared || claims['azp'] !== undefined) && claims['azp'] !== client.id)
    throw failed(issuer, 'its token is for another client');
  return claims;
}

async function requestTokens(issuer: LoginIssuer, grant: Readonly<Record<string, string>>): Promise<Fields> {
  const { client, provider } = issuer;
  const { token_endpoint: endpoint } = await provider.readDocument();
  if (endpoint === undefined) throw failed(issuer, 'its document names no address of tokens');
  const form = client.secret === undefined ? { ...grant, client_id: client.id } : grant;
  const { status, text } = await provider.ask(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(client.secret === undefined ? {} : { authorization: basic(client.id, client.secret) }),
    },
    body: new URLSearchParams(form).toString(),
  });
  if (status >= 500 || status === 429)
    throw new Failure(
      'Unavailable',
      `The identity provider ${issuer.settings.name} answers ${status}; try again`,
    );
  const answer = readRecord(text) ?? {};
  if (status !== 200) throw failed(issuer, `it answers ${codeOf(answer['error'])}`);
  return answer;
}

/** RFC 6749 2.3.1: both parts are encoded as in a form. */
function basic(id: string, secret: string): string {
  const encode = (part: string): string => new URLSearchParams({ x: part }).toString().slice(2);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
}

function openKept(sealer: Sealer, kept: string): StartedLogin | undefined {
  try {
    return JSON.parse(sealer.open(Buffer.from(kept, 'base64url').toString('base64'), PLACE)) as StartedLogin;
  } catch {
    // It is not ours, or of a key that is gone: the same as none.
    return undefined;
  }
}

/** The code of an error, and no other text of the provider or of whoever made the address. */
function codeOf(error: unknown): string {
  return typeof error === 'string' && /^\w{1,40}$/.test(error) ? error : 'that it failed';
}

function failed({ settings }: LoginIssuer, why: string): Failure {
  return new Failure('Unauthorized', `The login at ${settings.name} did not succeed: ${why}`);
}

function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}
