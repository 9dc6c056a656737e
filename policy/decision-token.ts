/** Proof in a decision that its sender knows the deployment's secret. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type ApprovalVerb, readVerb } from '#domain/approval/approval.ts';
import { isRecord, isText } from '#domain/outside-value.ts';

/**
 * The secret of the settings, otherwise one derived from each master key: the first makes tokens, all of them check, so
 * that keys may be rotated.
 */
export function tokenSecrets(token: string | undefined, keys: readonly Buffer[]): readonly string[] {
  if (token !== undefined) return [token];
  return keys.map((key) =>
    Buffer.from(hkdfSync('sha256', key, '', 'decision token', 32)).toString('base64url'),
  );
}

/** What a token is for: one message of one person about one version of a call. */
export interface TokenClaims {
  readonly tenant: string;
  readonly approval_id: string;
  readonly decision: ApprovalVerb;
  /** Digest of the version that the person read. */
  readonly digest: string;
  /** The user who decides; null when the token proves only that its sender knows the secret. */
  readonly by: string | null;
  /**
   * 1 to 64 letters, digits, `-` and `_`, which make each token different. The first message with the token uses it up.
   */
  readonly nonce: string;
}

/**
 * `CLAIMS.HMAC`: the claims as base64url of JSON, and the base64url HMAC-SHA256 of that. It contains the approval's id,
 * so that it is recognized and used up wherever it was sent.
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

/** Undefined when the token was not made with one of the secrets. */
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

/** Compares in constant time, which reveals nothing about `expected`. */
export function isToken(token: string | undefined, expected: string): boolean {
  const actual = Buffer.from(token ?? '');
  const bytes = Buffer.from(expected);
  return actual.length === bytes.length && timingSafeEqual(actual, bytes);
}
