/** Which elements of a page have text in the colour of what it stands on. */
import { areAlike, isClear, readColour } from './colour.ts';
import { readStyle, type Style, textColour } from './hidden-style.ts';
import type { PageDocument, PageElement } from './page-document.ts';
import type { PageRule, PageStyles } from './page-styles.ts';

/** Undefined: as around it, or, of a whole page, unknown. */
interface Painting {
  readonly text?: string | undefined;
  readonly behind?: string | undefined;
  /** It may stand on anything. */
  readonly isLaidOver?: boolean;
}

export function sameColoured(document: PageDocument, styles: PageStyles): ReadonlySet<PageElement> {
  // A sheet of another address may paint over what the page's own ones say.
  const isWhole = !document.querySelector('link[rel~="stylesheet"]');
  const ofRules = paintedByRules(styles, isWhole);
  const hasPictures = document.querySelector('img,picture,video,canvas,svg,[style*="url("]') !== null;
  const found = new Set<PageElement>();
  const seen = new Map<PageElement | null, Painting>([
    [null, isWhole ? { text: 'black', behind: 'white' } : {}],
  ]);
  for (const element of document.querySelectorAll('*')) {
    const around = seen.get(element.parentElement) ?? {};
    const own = {
      ...ofAttributes(element),
      ...ofRules.get(element),
      ...paintingOf(styleOf(element, styles.variables)),
    };
    const under = own.isLaidOver && hasPictures ? undefined : around.behind;
    const painting = { text: own.text ?? around.text, behind: own.behind ?? under };
    seen.set(element, painting);
    if (isUnseen(painting)) found.add(element);
  }
  return found;
}

function isUnseen({ text, behind }: Painting): boolean {
  return text !== undefined && behind !== undefined && areAlike(text, behind);
}

function paintedByRules({ rules, select }: PageStyles, isWhole: boolean): ReadonlyMap<PageElement, Painting> {
  const painted = new Map<PageElement, Painting>();
  for (const { painting, selector } of paintings(rules))
    if (isWhole || (painting.text && painting.behind))
      for (const element of select(selector)) painted.set(element, { ...painted.get(element), ...painting });
  return painted;
}

/** Those that count more come later. */
function paintings(rules: readonly PageRule[]) {
  return rules
    .map(({ selector, style }) => ({ selector, painting: paintingOf(style) }))
    .filter(({ painting }) => Object.keys(painting).length > 0)
    .toSorted((one, other) => weightOf(one.selector) - weightOf(other.selector));
}

/** Selectors 4, specificity, but for what stands in brackets. */
function weightOf(selector: string): number {
  const count = (pattern: RegExp): number => selector.match(pattern)?.length ?? 0;
  return count(/#/g) * 1_000_000 + count(/[.[:]/g) * 1_000 + count(/(?<![^\s>+~])[a-z]/gi);
}

function styleOf(element: PageElement, variables: Style): Style {
  const style = element.getAttribute('style');
  return style === null ? NONE : readStyle(style, variables);
}

const NONE: Style = new Map();
const AS_AROUND = /^(?:inherit|initial|unset|revert|revert-layer|currentcolor|none|)$/;
const PICTURE = /url\(|gradient\(|image/;

function paintingOf(style: Style): Painting {
  const text = textColour(style);
  const background = style.get('background')?.split(/\s+(?![^(]*\))/) ?? [];
  const behind = style.get('background-color') ?? background.find(readColour) ?? '';
  const isPicture = PICTURE.test(`${style.get('background')} ${style.get('background-image')}`);
  const isLaidOver = /^(?:absolute|fixed|sticky)$/.test(style.get('position') ?? '');
  return {
    ...(AS_AROUND.test(text) ? {} : { text }),
    ...(isPicture ? { behind: 'a picture' } : AS_AROUND.test(behind) || isClear(behind) ? {} : { behind }),
    ...(isLaidOver ? { isLaidOver } : {}),
  };
}

function ofAttributes(element: PageElement): Painting {
  const text = element.getAttribute('color') ?? element.getAttribute('text');
  const behind = element.getAttribute('bgcolor');
  return {
    ...(text === null ? {} : { text: text.toLowerCase() }),
    ...(behind === null ? {} : { behind: behind.toLowerCase() }),
  };
}
