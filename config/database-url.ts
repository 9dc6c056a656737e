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

/** Puts the password into the URL. Throws if there is no URL, or if it already has a password. */
export function withPasswordInUrl<Database extends { readonly url?: string; readonly password?: string }>({
  password,
  ...database
}: Database): Omit<Database, 'password'> {
  if (password === undefined) return database;
  if (database.url === undefined) throw new Error('database.url is not set');
  const url = new URL(database.url);
  if (url.password !== '') throw new Error('database.url has a password already');
  url.password = encodeURIComponent(password);
  return { ...database, url: url.href };
}
