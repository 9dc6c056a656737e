/** Takes out of a page what a person who looks at it does not see, and what is no text: it is where orders to models are hidden. */
import { areAlike, isFaded, isHiding, readStyle, type Style } from './hidden-style.ts';
import type { PageDocument, PageElement } from './page-document.ts';
import { readSheet } from './read-sheet.ts';

const UNSEEN = [
  'script,template,noscript,noframes,noembed,rp,map,[popover],object,embed,iframe,frame,canvas,svg,audio,video,datalist,input,textarea',
  'annotation,annotation-xml,mphantom',
  'dialog:not([open]),[hidden],[aria-hidden="true"],.sr-only,.visually-hidden,.screen-reader-text',
  'img[width="0"],img[width="1"],img[height="0"],img[height="1"]',
].join(',');
/** Characters of sheets, rules that hide something, and characters of a selector. */
const MAX_SHEET = 200_000;
const MAX_RULES = 300;
const MAX_SELECTOR = 200;
const ALT = 200;

export function removeHidden(document: PageDocument): void {
  const whole = document.body.textContent.length;
  removeComments(document);
  // The page as a whole is never hidden: what says so waits for its scripts.
  const remove = (element: PageElement): void => {
    if (!/^(?:html|head|body)$/.test(element.localName)) element.remove();
  };
  const { rules, sheets } = hidingRules(document);
  const isPlain = !document.querySelector('link[rel~="stylesheet"]') && !/background/i.test(sheets);
  for (const element of document.querySelectorAll(UNSEEN)) remove(element);
  const applies = (element: PageElement, { isFade, isWhite }: HidingRule): boolean =>
    isWhite ? isPlain && !isPainted(element) : !isFade || element.textContent.length < whole / 2;
  for (const rule of rules)
    for (const element of selected(document, rule.selector)) if (applies(element, rule)) remove(element);
  for (const element of document.querySelectorAll('[style],font[color]'))
    if (hidesItself(element, isPlain)) remove(element);
  for (const element of document.querySelectorAll('style,link')) element.remove();
  for (const element of document.querySelectorAll('[title]')) element.removeAttribute('title');
  for (const image of document.querySelectorAll('img[alt]'))
    image.setAttribute('alt', (image.getAttribute('alt') ?? '').slice(0, ALT));
}

function hidesItself(element: PageElement, isPlain: boolean): boolean {
  const style = styleOf(element);
  return isHiding(style) || isFaded(style) || isOnItsOwnColour(element, style, isPlain);
}

function removeComments(document: PageDocument): void {
  // NodeFilter.SHOW_COMMENT
  const walker = document.createTreeWalker(document, 128);
  const comments: PageElement[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) comments.push(node);
  for (const comment of comments) comment.remove();
}

interface HidingRule {
  readonly selector: string;
  readonly isFade: boolean;
  /** Hidden on a page that paints nothing. */
  readonly isWhite: boolean;
}

function hidingRules(document: PageDocument): {
  readonly rules: readonly HidingRule[];
  readonly sheets: string;
} {
  const found: HidingRule[] = [];
  let sheets = '';
  for (const element of document.querySelectorAll('style')) {
    sheets += element.textContent;
    if (sheets.length > MAX_SHEET) break;
    for (const { selector, style } of readSheet(element.textContent)) {
      if (found.length >= MAX_RULES || selector.length > MAX_SELECTOR) continue;
      const read = readStyle(style);
      const colour = read.get('color') ?? '';
      const behind = read.get('background-color') ?? read.get('background');
      const isHidden = isHiding(read) || (behind !== undefined && areAlike(colour, behind));
      const isWhite = !isHidden && areAlike(colour, 'white');
      if (isHidden || isWhite || isFaded(read))
        found.push({ selector, isFade: !isHidden && !isWhite, isWhite });
    }
  }
  return { rules: found, sheets };
}

const STRUCTURAL = /:(?:nth-(?:last-)?(?:child|of-type)\([^()]*\)|(?:first|last|only)-(?:child|of-type))/g;

/** By an attribute of its own or around it. */
function isPainted(element: PageElement): boolean {
  return element.closest('[bgcolor],[style*="background"]') !== null;
}

/** A state (`:hover`, `:not(.open)`) says nothing of the page as it comes. */
function selected(document: PageDocument, selector: string): Iterable<PageElement> {
  if (selector.replace(STRUCTURAL, '').includes(':')) return [];
  try {
    return document.querySelectorAll(selector);
  } catch {
    return [];
  }
}

function styleOf(element: PageElement): Style {
  return readStyle(element.getAttribute('style') ?? '');
}

/** `isPlain`: nothing but the elements themselves gives the page a background, so that it is white. */
function isOnItsOwnColour(element: PageElement, style: Style, isPlain: boolean): boolean {
  const colour = style.get('color') ?? element.getAttribute('color')?.toLowerCase();
  if (colour === undefined) return false;
  for (let at: PageElement | null = element; at; at = at.parentElement) {
    const around = styleOf(at);
    const behind = around.get('background-color') ?? around.get('background') ?? at.getAttribute('bgcolor');
    if (behind) return areAlike(colour, behind.toLowerCase());
  }
  return isPlain && areAlike(colour, 'white');
}
