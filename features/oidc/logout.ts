/**
 * Logs people out at their identity provider too (OpenID Connect RP-Initiated Logout 1.0). The browser keeps its own
 * id_token, sealed, so that the provider knows whom to log out without asking; it proves nothing here.
 */
import type { ApiKeyRow } from '#store/api-key-store.ts';
import type { Sealer } from '#store/seal.ts';
import { isRecord } from '#domain/outside-value.ts';
import type { LoginIssuer } from './login.ts';
import { isPersonOf } from './persons.ts';

const PLACE = 'oidc logout';
/** Browsers take cookies of 4,096 bytes with their names and attributes (RFC 6265, 6.1). */
const MAX_KEPT = 3_800;

/** What the browser keeps; undefined for a token that is too long. The provider then asks whom it is to log out. */
export function sealIdToken(sealer: Sealer, person: string, idToken: string): string | undefined {
  const sealed = Buffer.from(sealer.seal(JSON.stringify({ person, idToken }), PLACE), 'base64');
  const kept = sealed.toString('base64url');
  return kept.length > MAX_KEPT ? undefined : kept;
}

export interface EndedLogin {
  readonly key: Pick<ApiKeyRow, 'id' | 'name'>;
  /** As `sealIdToken` made it. */
  readonly kept: string | undefined;
  /** Where the provider sends the browser afterwards. */
  readonly redirect: string;
}

/**
 * The provider's page that ends the login there. Undefined for a key that is of no provider, or of one that people stay
 * logged in to. @throws Failure Unavailable
 */
export async function logoutPage(
  issuers: readonly LoginIssuer[],
  sealer: Sealer,
  { key, kept, redirect }: EndedLogin,
): Promise<string | undefined> {
  const issuer = issuers.find(({ settings }) => isPersonOf(key, settings));
  if (issuer?.client.logout !== 'provider') return undefined;
  const { end_session_endpoint: endpoint } = await issuer.provider.readDocument();
  if (endpoint === undefined) return undefined;
  const page = new URL(endpoint);
  const idToken = kept === undefined ? undefined : openIdToken(sealer, kept, key.id);
  if (idToken !== undefined) page.searchParams.set('id_token_hint', idToken);
  page.searchParams.set('client_id', issuer.client.id);
  page.searchParams.set('post_logout_redirect_uri', redirect);
  return page.href;
}

function openIdToken(sealer: Sealer, kept: string, person: string): string | undefined {
  try {
    const opened: unknown = JSON.parse(sealer.open(Buffer.from(kept, 'base64url').toString('base64'), PLACE));
    if (!isRecord(opened) || opened['person'] !== person) return undefined;
    return typeof opened['idToken'] === 'string' ? opened['idToken'] : undefined;
  } catch {
    // It is not ours, or of a key that is gone: the same as none.
    return undefined;
  }
}
