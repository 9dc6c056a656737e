/** Handles the address of Postgres, whose password may have any characters, in it or beside it. */

export const DATABASE_URL_WORDS =
  'must be a postgres:// URL, in whose user and password each /, ?, #, @, : and % is written as %2F, %3F, %23, %40, %3A and %25; ' +
  'or leave the password out and set TEMPOCLAW_DATABASE_PASSWORD, which is taken as it is';

/** In a password that is not escaped, `/`, `?` and `#` end the host, and everything after them would be lost. */
export function isWholeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, pathname, search, hash } = new URL(text);
  if (!/^postgres(ql)?:$/.test(protocol) || hash !== '' || /@/.test(pathname + search)) return false;
  return [username, password, pathname].every((part) => !/%(?![0-9a-f]{2})/i.test(part));
}

interface DatabaseAddresses {
  readonly url?: string;
  readonly poolerUrl?: string;
}

/** Puts the password into the URL, and into the pooler's if that has none. Throws if there is no URL, or if it has one. */
export function withPasswordInUrl<Database extends DatabaseAddresses & { readonly password?: string }>({
  password,
  ...database
}: Database): Omit<Database, 'password'> {
  if (password === undefined) return database;
  const { url, poolerUrl } = database;
  if (url === undefined) throw new Error('database.url is not set');
  if (new URL(url).password !== '') throw new Error('database.url has a password already');
  return {
    ...database,
    url: withPassword(url, password),
    ...(poolerUrl !== undefined && { poolerUrl: withPassword(poolerUrl, password) }),
  };
}

/** An address that has a password keeps its own. */
function withPassword(address: string, password: string): string {
  const url = new URL(address);
  url.password ||= encodeURIComponent(password);
  return url.href;
}
