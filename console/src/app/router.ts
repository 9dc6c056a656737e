/** Which page is shown, and how to go to another one. Links are plain anchors, which this intercepts. */
import { computed, signal } from '@preact/signals';

/** What a page gets: the values in the address, which its pattern names. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

/** The path below the page's base, with a slash at its beginning. */
const path = signal('/');
const search = signal('');

export const currentPath = computed(() => path.value);

/** What stands behind the path: filters, and the thing of a list that is chosen. */
export const currentSearch = computed(() => new URLSearchParams(search.value));

/** Changes the address without a new entry in the browser's history. Empty values are removed. */
export function setSearch(changes: Readonly<Record<string, string>>): void {
  const changed = new URLSearchParams(search.peek());
  for (const [name, value] of Object.entries(changes))
    if (value === '') changed.delete(name);
    else changed.set(name, value);
  navigate(`${location.pathname}${changed.size > 0 ? `?${changed}` : ''}`, { replace: true });
}

/** The address of a path of the console, for `href`. */
export function hrefOf(...parts: readonly string[]): string {
  return new URL(parts.map(encodeURIComponent).join('/'), document.baseURI).pathname;
}

export function navigate(href: string, { replace = false } = {}): void {
  const url = new URL(href, document.baseURI);
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  read();
  if (!replace) window.scrollTo(0, 0);
}

/** Values of the pattern's parameters; undefined when the path is another one. */
export function matchPath(pattern: string, at: string): Readonly<Record<string, string>> | undefined {
  const [parts, found] = [pattern.split('/'), at.split('/')];
  if (parts.length !== found.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const value = decode(found[index] ?? '');
    if (part.startsWith(':') && value !== '') params[part.slice(1)] = value;
    else if (part !== value) return undefined;
  }
  return params;
}

export function startRouter(): void {
  window.addEventListener('popstate', read);
  document.addEventListener('click', (event) => {
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!isPlain || event.defaultPrevented || !link || link.target || link.hasAttribute('download')) return;
    if (!link.href.startsWith(document.baseURI) || link.dataset['native'] !== undefined) return;
    event.preventDefault();
    navigate(link.href);
  });
  read();
}

/** The token of a link that logs in, `/login#TOKEN`. The address is replaced, so that no history contains it. */
export function takeLinkToken(): string | undefined {
  const token = location.hash.slice(1);
  if (path.value !== '/login' || token === '') return undefined;
  navigate(document.baseURI, { replace: true });
  return token;
}

function read(): void {
  const base = new URL(document.baseURI).pathname;
  search.value = location.search;
  path.value = `/${location.pathname.slice(base.length)}`.replace(/(?<=.)\/+$/, '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
