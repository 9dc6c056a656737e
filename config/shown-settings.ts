/**
 * The settings as people and models may see them: for what is, or may contain, a secret, they only say that it is set.
 */
/** Fields that are a secret, and groups in which any value may be one. */
const SECRET =
  /^(?:key|.*apikey|previouskeys|secret|secretaccesskey|accesskeyid|password|token|headers|env|args|metadata|tls)$/i;
/** A reader of the settings does not need to know where these files are. */
const LEFT_OUT: ReadonlySet<string> = new Set(['secretFiles']);

/** All of them, or those at `path`: `models.providers.openai`. Returns undefined if there is no such setting. */
export function shownSettings(config: object, path: string): unknown {
  let found: unknown = shown(config);
  for (const name of path === '' ? [] : path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return found;
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return withoutCredentials(value);
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name, one]) => one !== undefined && !LEFT_OUT.has(name));
  return Object.fromEntries(
    fields.map(([name, one]) => [name, SECRET.test(name) && !isEmpty(one) ? 'set' : shown(one)]),
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Removes user, password and query from an address. */
function withoutCredentials(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return text;
  const { protocol, host, pathname, username, password, search, hash } = new URL(text);
  return `${username}${password}${search}${hash}` === '' ? text : `${protocol}//${host}${pathname}`;
}
