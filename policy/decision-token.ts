/** What a decision carries to show that whoever sends it knows the deployment's secret (SECURITY B10). */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Of the settings, else one of each master key: the first makes tokens, all of them check, so that keys may be rotated. */
export function tokenSecrets(token: string | undefined, keys: readonly Buffer[]): readonly string[] {
  if (token !== undefined) return [token];
  return keys.map((key) =>
    Buffer.from(hkdfSync('sha256', key, '', 'decision token', 32)).toString('base64url'),
  );
}

/**
 * Base64url, 43 characters. Bound to the one approval; with `by` also to the user who decides, which proves that it is
 * he. A tenant and an approval id have no slash, so no two of these are made of the same text.
 */
export function decisionToken(secret: string, tenant: string, approvalId: string, by?: string): string {
  const text = by === undefined ? `${tenant}/${approvalId}` : `${tenant}/${approvalId}/${by}`;
  return createHmac('sha256', secret).update(text).digest('base64url');
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
