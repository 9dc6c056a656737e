/**
 * An identity provider as we ask it: its document and its keys (OpenID Connect Discovery 1.0, RFC 7517), each kept for a
 * time. A provider that fails is left alone for a moment, and so is one whose tokens name keys that it does not have.
 */
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import type { Egress } from '#activities/egress/create-egress.ts';
import { Failure } from '#domain/errors.ts';
import { type Fields, isRecord } from '#domain/outside-value.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import { EgressError } from '@tempoclaw/egress';
import type { IssuerSettings } from './settings.ts';

const DOCUMENT_MS = 3_600_000;
const KEYS_MS = 600_000;
const TIMEOUT_MS = 5_000;
/** After a failure. Requests that come meanwhile get its words at once. */
const PAUSE_MS = 3_000;
const MAX_BYTES = 500_000;

export interface ProviderDocument {
  readonly jwks_uri: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly end_session_endpoint?: string;
}

export interface Provider {
  /** @throws Failure Unavailable */
  readDocument(): Promise<ProviderDocument>;
  /** The key that a token names. @throws Failure Unavailable; errors of jose when there is no such key */
  readonly findKey: JWTVerifyGetKey;
  /** Sends a request to the provider. @throws Failure Unavailable */
  ask(url: string, init?: RequestInit): Promise<{ readonly status: number; readonly text: string }>;
}

export function createProvider(
  egress: Egress,
  { issuer, name, keysPauseSeconds }: Pick<IssuerSettings, 'issuer' | 'name' | 'keysPauseSeconds'>,
): Provider {
  const { hostname, protocol, origin, port } = new URL(issuer);
  const place = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  let document: { readonly read: Promise<ProviderDocument>; readonly until: number } | undefined;
  let failed: { readonly error: Failure; readonly until: number } | undefined;
  let keys: { readonly uri: string; readonly find: JWTVerifyGetKey } | undefined;

  /**
   * The operator's setting names the issuer, so its host may be in a private network. Everything else that the document
   * names is judged as an address from outside.
   */
  async function ask(url: string, init?: RequestInit) {
    if (failed && failed.until > Date.now()) throw failed.error;
    const client = egress.open({
      labels: { tenant: OPERATOR_TENANT, purpose: 'oidc' },
      rules: { internalHosts: [place], allowedPorts: port === '' ? [] : [Number(port)] },
      limits: { bytes: MAX_BYTES, totalMs: TIMEOUT_MS, redirects: 0 },
      isRoutine: () => true,
    });
    try {
      const response = await client.fetch(url, init);
      return { status: response.status, text: await response.text() };
    } catch (error) {
      throw unavailable(error instanceof EgressError ? error.message : 'it does not answer');
    } finally {
      await client.close();
    }
  }

  function unavailable(why: string): Failure {
    const error = new Failure(
      'Unavailable',
      `The identity provider ${name} cannot be asked: ${why}. API keys work meanwhile; try again in a moment`,
      { retry_after: Math.ceil(PAUSE_MS / 1000) },
    );
    failed = { error, until: Date.now() + PAUSE_MS };
    return error;
  }

  async function fetchDocument(): Promise<ProviderDocument> {
    const { status, text } = await ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const read = status === 200 ? readRecord(text) : undefined;
    if (!read) throw unavailable(`its document is not there (HTTP ${status})`);
    if (read['issuer'] !== issuer) throw unavailable('its document names another issuer');
    const address = (field: string): string | undefined => {
      const value = read[field];
      const url = typeof value === 'string' ? URL.parse(value) : null;
      return url && (url.protocol === 'https:' || url.origin === origin) ? url.href : undefined;
    };
    const jwks_uri = address('jwks_uri');
    if (jwks_uri === undefined) throw unavailable('its document names no address of keys');
    const login = ['authorization_endpoint', 'token_endpoint', 'end_session_endpoint'].map((field) => [
      field,
      address(field),
    ]);
    return { jwks_uri, ...Object.fromEntries(login.filter(([, value]) => value !== undefined)) };
  }

  async function readDocument(): Promise<ProviderDocument> {
    if (!document || document.until <= Date.now())
      document = { read: fetchDocument(), until: Date.now() + DOCUMENT_MS };
    const { read } = document;
    try {
      return await read;
    } catch (error) {
      if (document?.read === read) document = undefined;
      throw error;
    }
  }

  return {
    readDocument,
    ask,
    async findKey(header, token) {
      const { jwks_uri: uri } = await readDocument();
      if (keys?.uri !== uri)
        keys = {
          uri,
          find: createRemoteJWKSet(new URL(uri), {
            cooldownDuration: keysPauseSeconds * 1000,
            cacheMaxAge: Math.max(KEYS_MS, keysPauseSeconds * 1000),
            timeoutDuration: TIMEOUT_MS,
            [customFetch]: async (url, { headers, signal }) => {
              const { status, text } = await ask(url, { headers, signal });
              return new Response(status === 200 ? text : null, { status });
            },
          }),
        };
      try {
        return await keys.find(header, token);
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
          throw error;
        throw error instanceof Failure ? error : unavailable('its keys cannot be read');
      }
    },
  };
}

/** The object of an answer; undefined when it is none. */
export function readRecord(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // No JSON is as good as no answer.
    return undefined;
  }
}
