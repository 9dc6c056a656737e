/** What a decision carries to show that whoever sends it knows the deployment's secret (SECURITY B10). */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type ApprovalVerb, readVerb } from '#domain/approval.ts';
import { isRecord, isText } from '#domain/outside-value.ts';

/** Of the settings, else one of each master key: the first makes tokens, all of them check, so that keys may be rotated. */
export function tokenSecrets(token: string | undefined, keys: readonly Buffer[]): readonly string[] {
  if (token !== undefined) return [token];
  return keys.map((key) =>
    Buffer.from(hkdfSync('sha256', key, '', 'decision token', 32)).toString('base64url'),
  );
}

/** What a token is for: one message of one person about one call, as it was looked at. */
export interface TokenClaims {
  readonly decision: ApprovalVerb;
  /** Of the call that was looked at. */
  readonly digest: string;
  /** The user who decides; null when the token proves only that whoever sends it knows the secret. */
  readonly by: string | null;
  /** 1 to 64 letters, digits, `-` and `_`: makes it another token each time. The first message with it uses it up. */
  readonly nonce: string;
}

/**
 * `CLAIMS.HMAC`: the claims as base64url of JSON, and the base64url HMAC-SHA256 of `{tenant}/{approval_id}/CLAIMS`. A tenant, an approval id
 * and base64url have no slash, so no two of these are made of the same text.
 */
export function decisionToken(
  secret: string,
  tenant: string,
  approvalId: string,
  { decision, digest, by, nonce }: TokenClaims,
): string {
  const claims = Buffer.from(JSON.stringify({ decision, digest, by, nonce })).toString('base64url');
  return `${claims}.${signatureOf(secret, tenant, approvalId, claims)}`;
}

function signatureOf(secret: string, tenant: string, approvalId: string, claims: string): string {
  return createHmac('sha256', secret).update(`${tenant}/${approvalId}/${claims}`).digest('base64url');
}

/** Undefined when it was not made for this approval under one of the secrets. */
export function readDecisionToken(
  secrets: readonly string[],
  tenant: string,
  approvalId: string,
  token: string,
): TokenClaims | undefined {
  const [claims = '', signature] = token.split('.', 2);
  if (!secrets.some((secret) => isToken(signature, signatureOf(secret, tenant, approvalId, claims))))
    return undefined;
  const read: unknown = parsed(Buffer.from(claims, 'base64url').toString());
  if (!isRecord(read)) return undefined;
  const { digest, nonce, by = null } = read;
  const decision = readVerb(read['decision']);
  if (!decision || !isText(digest, 64) || typeof nonce !== 'string' || !NONCE.test(nonce)) return undefined;
  return by === null || isText(by, 200) ? { decision, digest, by, nonce } : undefined;
}

const NONCE = /^[\w-]{1,64}$/;

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/**
 * Of a link in mails of a webhook, for one user to the call as it was shown: the same in each mail, and after an edit another one. The
 * line break keeps it apart from decision tokens.
 */
export function mailLinkToken(
  secret: string,
  webhook: string,
  { id, digest }: { readonly id: string; readonly digest: string },
  user: string,
): string {
  return createHmac('sha256', secret)
    .update(`mail link\n${webhook}/${id}/${digest}/${user}`)
    .digest('base64url');
}

/** What is kept of a link's token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** In a time that tells nothing about `expected`. */
export function isToken(token: string | undefined, expected: string): boolean {
  const actual = Buffer.from(token ?? '');
  const wanted = Buffer.from(expected);
  return actual.length === wanted.length && timingSafeEqual(actual, wanted);
}
