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
  readonly tenant: string;
  readonly approval_id: string;
  readonly decision: ApprovalVerb;
  /** Of the call that was looked at. */
  readonly digest: string;
  /** The user who decides; null when the token proves only that whoever sends it knows the secret. */
  readonly by: string | null;
  /** 1 to 64 letters, digits, `-` and `_`: makes it another token each time. The first message with it uses it up. */
  readonly nonce: string;
}

/**
 * `CLAIMS.HMAC`: the claims as base64url of JSON, and the base64url HMAC-SHA256 of that. It names its approval itself, so that it is
 * known, and used up, wherever it was sent.
 */
export function decisionToken(
  secret: string,
  { tenant, approval_id, decision, digest, by, nonce }: TokenClaims,
): string {
  const json = JSON.stringify({ tenant, approval_id, decision, digest, by, nonce });
  const claims = Buffer.from(json).toString('base64url');
  return `${claims}.${signatureOf(secret, claims)}`;
}

function signatureOf(secret: string, claims: string): string {
  return createHmac('sha256', secret).update(claims).digest('base64url');
}

/** Undefined when it was not made under one of the secrets. */
export function readDecisionToken(secrets: readonly string[], token: string): TokenClaims | undefined {
  const [claims = '', signature] = token.split('.', 2);
  if (!secrets.some((secret) => isToken(signature, signatureOf(secret, claims)))) return undefined;
  const read: unknown = parsed(Buffer.from(claims, 'base64url').toString());
  if (!isRecord(read)) return undefined;
  const { tenant, approval_id, digest, nonce, by = null } = read;
  const decision = readVerb(read['decision']);
  if (!decision || !isText(tenant, 200) || !isText(approval_id, 400) || !isText(digest, 64)) return undefined;
  if (typeof nonce !== 'string' || !NONCE.test(nonce)) return undefined;
  if (by !== null && !isText(by, 200)) return undefined;
  return { tenant, approval_id, decision, digest, by, nonce };
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
  const bytes = Buffer.from(expected);
  return actual.length === bytes.length && timingSafeEqual(actual, bytes);
}
