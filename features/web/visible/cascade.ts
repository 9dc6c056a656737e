/** Computes the style of each element of a page, by its sheets and attributes (CSS Cascade 5). */
import type { PageDocument, PageElement } from '../pages/page-document.ts';
import { readColour } from './colour.ts';
import { type ComputedStyle, computeStyle, isAboutSight, NO_STYLE } from './computed-style.ts';
import { isForScreens } from './media.ts';
import { createSelect } from './select-elements.ts';
import {
  type Declaration,
  readStyleAttribute,
  readStyleSheet,
  type SheetRule,
  type StyleSheet,
} from './style-sheet.ts';

export interface Cascade {
  styleOf(element: PageElement): ComputedStyle;
  /** True if no sheet of another address can change it. */
  readonly isWhole: boolean;
}

interface Match {
  readonly declarations: readonly Declaration[];
  readonly layer: number;
  readonly specificity: number;
}

export function createCascade(document: PageDocument): Cascade {
  const { sheets, isWhole } = sheetsOf(document);
  const layers = [...new Set(sheets.flatMap((sheet) => sheet.layers))];
  const animations = new Map(sheets.flatMap((sheet) => [...sheet.animations]));
  const initial = new Map(sheets.flatMap((sheet) => [...sheet.initial]));
  const matches = matchAll(
    document,
    sheets.flatMap((sheet) => (isWhole ? sheet.rules : sheet.rules.map(withoutHalfPaint))),
    layers,
  );
  const styles = new Map<PageElement | null, ComputedStyle>([[null, NO_STYLE]]);

  const passed = new WeakMap<ComputedStyle, ComputedStyle>();

  function styleOf(element: PageElement | null): ComputedStyle {
    const known = styles.get(element);
    if (known || element === null) return known ?? NO_STYLE;
    // Elements go from the outside to the inside, because pages may be nested deeply.
    const open: PageElement[] = [];
    for (let one: PageElement | null = element; one && !styles.has(one); one = one.parentElement)
      open.push(one);
    for (const one of open.reverse()) {
      const declarations = declarationsFor(one);
      const around = styles.get(one.parentElement) ?? NO_STYLE;
      // A page that is hidden as a whole waits for its scripts.
      const isPage = /^(?:html|body)$/.test(one.localName);
      const counting = isPage
        ? declarations.filter(({ property }) => property !== 'visibility')
        : declarations;
      styles.set(one, counting.length > 0 ? computeStyle(counting, around, initial) : passedOn(around));
    }
    return styles.get(element) ?? NO_STYLE;
  }

  /** One style for all elements without declarations of their own. */
  function passedOn(around: ComputedStyle): ComputedStyle {
    const known = passed.get(around);
    if (known) return known;
    const style = computeStyle([], around, initial);
    passed.set(around, style).set(style, style);
    return style;
  }

  function declarationsFor(element: PageElement): readonly Declaration[] {
    const found = matches.get(element) ?? [];
    const attribute = element.getAttribute('style');
    const own = attribute === null ? [] : readStyleAttribute(attribute);
    const ofPage = ofAttributes(element);
    if (found.length === 0 && own.length === 0) return ofPage;
    const normal = found.toSorted((a, b) => a.layer - b.layer || a.specificity - b.specificity);
    const important = found.toSorted((a, b) => b.layer - a.layer || a.specificity - b.specificity);
    const plain = [...ofPage, ...normal.flatMap((match) => match.declarations), ...own].filter(
      (one) => !one.important,
    );
    return [
      ...plain,
      ...animated(plain),
      ...[...important.flatMap((match) => match.declarations), ...own].filter((one) => one.important),
    ];
  }

  /** The final or permanent state of animations. */
  function animated(declarations: readonly Declaration[]): readonly Declaration[] {
    if (animations.size === 0) return [];
    const lines = declarations.filter(({ property }) =>
      /^(?:-webkit-)?animation(?:-name|-fill-mode|-iteration-count)?$/.test(property),
    );
    const words = lines.flatMap(({ value }) => value.split(/[\s,]+/));
    const [from, to] = words.map((word) => animations.get(word)).find((frames) => frames) ?? [];
    if (!from || !to) return [];
    if (words.some((word) => /^(?:forwards|both)$/i.test(word))) return to;
    const isStill = JSON.stringify(from) === JSON.stringify(to);
    return isStill && words.some((word) => /^infinite$/i.test(word)) ? to : [];
  }

  return { styleOf, isWhole };
}

/**
 * If other sheets may add declarations, a rule that colours only the letters or only the background does not determine
 * how they look together.
 */
function withoutHalfPaint(rule: SheetRule): SheetRule {
  const paints = (pattern: RegExp): boolean =>
    rule.declarations.some(({ property }) => pattern.test(property));
  if (paints(LETTERS) && paints(GROUND)) return rule;
  const isClear = (value: string): boolean => readColour(value.toLowerCase())?.alpha === 0;
  const declarations = rule.declarations.filter(
    ({ property, value }) => !GROUND.test(property) && (!LETTERS.test(property) || isClear(value)),
  );
  return { ...rule, declarations };
}

const LETTERS = /^(?:color|-webkit-text-fill-color)$/;
const GROUND = /^background(?:-color)?$/;

const MAX_IMPORTS = 20;

/** Sheets in the page, and those that an address contains itself (`data:`). */
function sheetsOf(document: PageDocument): {
  readonly sheets: readonly StyleSheet[];
  readonly isWhole: boolean;
} {
  const sheets: StyleSheet[] = [];
  let isWhole = true;
  let imports = 0;
  const read = (css: string): void => {
    const sheet = readStyleSheet(css);
    for (const address of sheet.imports) readAddress(address);
    sheets.push(sheet);
  };
  const readAddress = (address: string): void => {
    imports += 1;
    const css = imports > MAX_IMPORTS ? undefined : withinAddress(address);
    if (css === undefined) isWhole = false;
    else read(css);
  };
  for (const element of document.querySelectorAll('style,link[rel~="stylesheet" i]')) {
    if (element.closest('noscript,template') || !isForScreens(element.getAttribute('media') || 'all'))
      continue;
    if (element.localName === 'link') {
      if (element.getAttribute('disabled') === null) readAddress(element.getAttribute('href') ?? '');
    } else if (/^(?:text\/css)?$/i.test(element.getAttribute('type') ?? '')) read(element.textContent);
  }
  return { sheets, isWhole };
}

function withinAddress(address: string): string | undefined {
  const [, type, data = ''] = /^data:text\/css([^,]*),([^]*)$/i.exec(address.trim()) ?? [];
  if (type === undefined) return undefined;
  try {
    const text = decodeURIComponent(data);
    return /;base64$/i.test(type) ? Buffer.from(text, 'base64').toString() : text;
  } catch {
    return undefined;
  }
}

function matchAll(
  document: PageDocument,
  rules: readonly SheetRule[],
  layers: readonly string[],
): ReadonlyMap<PageElement, readonly Match[]> {
  const select = createSelect(document);
  const matches = new Map<PageElement, Match[]>();
  const add = (element: PageElement, match: Match): void => {
    const those = matches.get(element);
    if (those) those.push(match);
    else matches.set(element, [match]);
  };
  for (const { selectors, declarations: all, layer } of rules) {
    const declarations = all.filter(({ property }) => isAboutSight(property));
    if (declarations.length === 0) continue;
    const place = layer === undefined ? layers.length : layers.indexOf(layer);
    for (const selector of selectors)
      for (const element of select(selector))
        add(element, { declarations, layer: place, specificity: selector.specificity });
  }
  return matches;
}

/** Browsers' styles for elements before all sheets (HTML, "Rendering"). */
function ofAttributes(element: PageElement): readonly Declaration[] {
  const lines: Declaration[] = [];
  const say = (property: string, value: string | null): void => {
    if (value !== null) lines.push({ property, value, important: false });
  };
  const hidden = element.getAttribute('hidden');
  if (hidden !== null) {
    if (hidden.toLowerCase() === 'until-found') say('content-visibility', 'hidden');
    else say('display', 'none');
  }
  if (element.getAttribute('popover') !== null) say('display', 'none');
  const { localName } = element;
  if (localName === 'dialog' && element.getAttribute('open') === null) say('display', 'none');
  if (localName === 'font') say('color', element.getAttribute('color'));
  if (localName === 'body') say('color', element.getAttribute('text'));
  say('background-color', element.getAttribute('bgcolor'));
  return lines;
}
