/** Cookies of logins. Their values are sealed, so a browser cannot make one. */
import type { FastifyRequest } from 'fastify';

export interface BrowserCookie {
  read(request: FastifyRequest): string | undefined;
  /** The value of Set-Cookie; without a value it removes the cookie. */
  write(value?: string): string;
}

export interface BrowserCookieSettings {
  readonly name: string;
  /** Over TLS, prefixes of names keep other hosts from setting them; `__Host-` is for the path `/` alone. */
  readonly isTls: boolean;
  readonly path: string;
  readonly sameSite: 'Lax' | 'Strict';
  readonly seconds: number;
}

export function createBrowserCookie({
  name,
  isTls,
  path,
  sameSite,
  seconds,
}: BrowserCookieSettings): BrowserCookie {
  const whole = `${isTls ? (path === '/' ? '__Host-' : '__Secure-') : ''}${name}`;
  const attributes = `Path=${path}; HttpOnly; SameSite=${sameSite}${isTls ? '; Secure' : ''}`;
  return {
    read: ({ headers }) =>
      headers.cookie
        ?.split(';')
        .map((pair) => pair.trim().split('='))
        .find(([key]) => key === whole)?.[1],
    write: (value = '') => `${whole}=${value}; ${attributes}; Max-Age=${value === '' ? 0 : seconds}`,
  };
}
