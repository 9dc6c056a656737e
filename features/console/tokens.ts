/** Tokens of browsers: the cookie that contains one, and the value that guards it against other sites' requests. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Random bits in characters that cookies and addresses may contain. */
export function makeToken(bits: 128 | 256): string {
  return randomBytes(bits / 8).toString('base64url');
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export interface SessionCookie {
  read(header: string | undefined): string | undefined;
  /** The value of Set-Cookie; without a token it removes the cookie. */
  write(token?: { readonly value: string; readonly expires: Date }): string;
}

/**
 * Ports of one host share their cookies, so each installation has a name of its own. Over TLS the prefix `__Host-` keeps
 * other hosts of the domain from setting it.
 */
export function createSessionCookie(installation: string, isTls: boolean): SessionCookie {
  const suffix = createHash('sha256').update(installation).digest('hex').slice(0, 8);
  const name = `${isTls ? '__Host-' : ''}tempoclaw-${suffix}`;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isTls ? '; Secure' : ''}`;
  return {
    read: (header = '') =>
      header
        .split(';')
        .map((pair) => pair.trim().split('='))
        .find(([key]) => key === name)?.[1],
    write: (token) =>
      token
        ? `${name}=${token.value}; ${attributes}; Expires=${token.expires.toUTCString()}`
        : `${name}=; ${attributes}; Max-Age=0`,
  };
}

/** Stays the same when the token rotates, so that all tabs of a browser can use it. */
export function csrfToken(secret: string, tenant: string, session: string): string {
  return createHmac('sha256', secret).update(`console csrf\n${tenant}/${session}`).digest('base64url');
}

export function isEqual(sent: unknown, expected: string): boolean {
  return typeof sent === 'string' && timingSafeEqual(hashToken(sent), hashToken(expected));
}
