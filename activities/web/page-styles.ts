/** The style sheets within a page: their rules, and the elements that each is for. Time is the reader's bound (read-in-thread.ts). */
import { readStyle, type Style } from './hidden-style.ts';
import type { PageDocument, PageElement } from './page-document.ts';
import { readSheet } from './read-sheet.ts';

export interface PageRule {
  /** One, of a list. */
  readonly selector: string;
  readonly style: Style;
}

export interface PageStyles {
  readonly rules: readonly PageRule[];
  /** Of the page as a whole. */
  readonly variables: Style;
  /** None for what it cannot tell of the page as it comes: a state (`:hover`), or a selector that is none. */
  select(selector: string): readonly PageElement[];
}

const WHOLE = /^(?::root|html|body|\*)$/;

export function readPageStyles(document: PageDocument): PageStyles {
  const written = [...document.querySelectorAll('style')].flatMap(({ textContent }) =>
    readSheet(textContent),
  );
  const ofPage = written.filter(({ selector }) => selector.split(',').some((one) => WHOLE.test(one.trim())));
  const variables: Style = new Map(ofPage.flatMap(({ style }) => [...readStyle(style)]));
  const rules = written.flatMap(({ selector, style }) => {
    const read = readStyle(style, variables);
    return selectorsOf(selector).map((one) => ({ selector: one, style: read }));
  });
  return { rules, variables, select: createSelect(document) };
}

/** Those of a list; commas within brackets and strings are not between them. */
function selectorsOf(list: string): readonly string[] {
  return (list.match(/(?:\\.|"[^"]*"|'[^']*'|\([^()]*(?:\([^()]*\)[^()]*)*\)|[^,])+/g) ?? []).map((one) =>
    one.trim(),
  );
}

/** Of a page as it comes. */
const STILL =
  /:(?:is|where|not|has|root|empty|nth-(?:last-)?(?:child|of-type)|(?:first|last|only)-(?:child|of-type))(?![\w-])/g;
const LITERAL = /\\.|"[^"]*"|'[^']*'/g;
const BRACKETS = /\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]/g;
/** Elements of one class or id that are looked at one by one. */
const FEW = 100;

function createSelect(document: PageDocument): PageStyles['select'] {
  const named = new Map<string, PageElement[]>();
  const add = (name: string, element: PageElement): void => {
    const those = named.get(name);
    if (those) those.push(element);
    else named.set(name, [element]);
  };
  for (const element of document.querySelectorAll('[class],[id]')) {
    add(`#${element.getAttribute('id')}`, element);
    for (const name of new Set(element.getAttribute('class')?.split(/\s+/))) add(`.${name}`, element);
  }
  return (selector) => {
    const plain = selector.replace(LITERAL, '');
    if (plain.replace(STILL, '').includes(':')) return [];
    const outside = plain.replace(BRACKETS, '');
    const names = selector.includes('\\') ? [] : (outside.match(/[.#][\w-]+/g) ?? []);
    // Most rules of a sheet are for classes that few elements have, or none.
    if (names.some((name) => !named.has(name))) return [];
    const last = names.at(-1) ?? '';
    const those = named.get(last) ?? [];
    const isItself = outside.lastIndexOf(last) > outside.search(/[\s>+~][^\s>+~]*$/);
    try {
      if (last === '' || those.length > FEW) return [...document.querySelectorAll(selector)];
      if (isItself) return those.filter((element) => element.matches(selector));
      return /[+~]/.test(outside)
        ? [...document.querySelectorAll(selector)]
        : those.flatMap((element) => [...element.querySelectorAll(selector)]);
    } catch {
      return [];
    }
  };
}
