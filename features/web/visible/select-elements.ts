/** Finds the elements of a page by selectors, of which a sheet has thousands. */
import type { PageDocument, PageElement } from '../pages/page-document.ts';
import type { PageSelector } from './selectors.ts';

/** Returns none for an invalid selector. */
export type SelectElements = (selector: PageSelector) => readonly PageElement[];

export function createSelect(document: PageDocument): SelectElements {
  const named = new Map<string, PageElement[]>();
  const add = (name: string, element: PageElement): void => {
    const those = named.get(name);
    if (those) those.push(element);
    else named.set(name, [element]);
  };
  for (const element of document.querySelectorAll('[class],[id]')) {
    const id = element.getAttribute('id');
    if (id) add(`#${id}`, element);
    for (const name of new Set(element.getAttribute('class')?.split(/\s+/)))
      if (name) add(`.${name}`, element);
  }
  return ({ text, names, own }) => {
    // Most rules of a sheet are for classes that few elements have, or none.
    const those = names.map((name) => named.get(name));
    if (those.includes(undefined)) return [];
    const ofItself = those
      .slice(those.length - own)
      .toSorted((one, other) => (one?.length ?? 0) - (other?.length ?? 0));
    const [fewest] = ofItself;
    try {
      if (!fewest) return [...document.querySelectorAll(text)];
      return isOneName(text) ? fewest : fewest.filter((element) => element.matches(text));
    } catch {
      return [];
    }
  };
}

/** Whether it consists of only one class or id. */
function isOneName(text: string): boolean {
  return /^[.#](?:[\w-]|\\.)+$/.test(text);
}
