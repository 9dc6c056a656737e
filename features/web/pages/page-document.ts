/** The part of the DOM that reads pages; linkedom's own types need those of browsers. */
import { parseHTML } from 'linkedom';

export interface PageElement {
  readonly localName: string;
  readonly parentElement: PageElement | null;
  readonly childNodes: Iterable<PageElement>;
  readonly nodeType: number;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  innerHTML: string;
  textContent: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  insertAdjacentHTML(place: 'beforebegin', html: string): void;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  closest(selector: string): PageElement | null;
  matches(selector: string): boolean;
  append(...nodes: readonly (PageElement | string)[]): void;
  remove(): void;
  before(node: PageElement): void;
  cloneNode(isDeep: boolean): PageElement;
}

interface PageRoot extends Omit<PageElement, 'append' | 'childNodes'> {
  readonly childNodes: Iterable<PageRoot>;
  append(...nodes: readonly PageRoot[]): void;
}

export interface PageDocument extends PageElement {
  readonly body: PageElement;
  readonly documentElement: PageElement | null;
  createElement(name: string): PageElement;
  createTreeWalker(root: PageElement, show: number): { nextNode(): PageElement | null };
}

/** More elements than articles have; larger pages are read as text alone. */
export const MAX_ELEMENTS = 50_000;
const HTTP = /^https?:$/;

/** Makes its links and pictures absolute; those that lead to no web address lose theirs. */
export function parsePage(html: string, url: string): PageDocument {
  // A fragment has no root of its own, and linkedom makes none.
  const whole = /<html[\s>]/i.test(html) ? html : `<html>${html.replace(/^\s*<!doctype[^>]*>/i, '')}</html>`;
  // Browsers also end a comment this way; linkedom does not.
  const ended = whole.replaceAll('--!>', '-->');
  const { document } = parseHTML(ended) as unknown as { readonly document: PageDocument };
  settle(document as never);
  nameAttributes(document);
  const href = document.querySelector('base[href]')?.getAttribute('href') ?? '';
  const base = URL.canParse(href, url) ? new URL(href, url).href : url;
  for (const [selector, name] of [
    ['a[href]', 'href'],
    ['img[src]', 'src'],
  ] as const)
    for (const element of document.querySelectorAll(selector)) {
      const value = element.getAttribute(name) ?? '';
      const absolute = URL.canParse(value, base) ? new URL(value, base) : undefined;
      if (absolute && HTTP.test(absolute.protocol)) element.setAttribute(name, absolute.href);
      else element.removeAttribute(name);
    }
  return document;
}

/**
 * Makes names of attributes lower case, however the page writes them (HTML, "Attribute name state"); of two with one
 * name, the first counts.
 */
function nameAttributes(document: PageDocument): void {
  for (const element of document.querySelectorAll('*'))
    for (const { name, value } of Array.from(element.attributes)) {
      const small = name.toLowerCase();
      if (small === name) continue;
      element.removeAttribute(name);
      if (element.getAttribute(small) === null) element.setAttribute(small, value);
    }
}

const OF_HEAD = /^(?:base|link|meta|script|style|title)$/;

/** Pages may omit `<head>` and `<body>`: what is beside them is moved where browsers put it. */
function settle(document: { documentElement: PageRoot; head: PageRoot; body: PageRoot }): void {
  const { documentElement, head, body } = document;
  // This is a copy, because what is moved leaves the list.
  for (const node of Array.from(documentElement.childNodes)) {
    if (node === head || node === body) continue;
    if (node.localName !== 'head' && node.localName !== 'body') {
      (OF_HEAD.test(node.localName) ? head : body).append(node);
      continue;
    }
    const place = node.localName === 'head' ? head : body;
    for (const { name, value } of node.attributes) place.setAttribute(name, value);
    place.append(...node.childNodes);
    node.remove();
  }
}
