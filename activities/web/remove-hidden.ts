/** Takes out of a page what a person who looks at it does not see, and what is no text: it is where orders to models are hidden. */
import { isFaded, isHiding, readStyle } from './hidden-style.ts';
import type { PageDocument, PageElement } from './page-document.ts';
import { type PageStyles, readPageStyles } from './page-styles.ts';
import { sameColoured } from './same-colour.ts';

const UNSEEN = [
  'script,template,noscript,noframes,noembed,rp,map,[popover],object,embed,iframe,frame,canvas,svg,audio,video,datalist,input,textarea',
  'annotation,annotation-xml,mphantom',
  'dialog:not([open]),[hidden],[aria-hidden="true"],.sr-only,.visually-hidden,.screen-reader-text',
  'img[width="0"],img[width="1"],img[height="0"],img[height="1"]',
].join(',');
const ALT = 200;

export function removeHidden(document: PageDocument): void {
  removeComments(document);
  // What goes changes which rules apply to what stays.
  const styles = readPageStyles(document);
  const coloured = sameColoured(document, styles);
  const hidden = [...document.querySelectorAll(UNSEEN), ...hiddenByStyle(document, styles)];
  // The page as a whole is never hidden: what says so waits for its scripts.
  for (const element of hidden) if (!/^(?:html|head|body)$/.test(element.localName)) element.remove();
  removeTexts(document, coloured);
  for (const element of document.querySelectorAll('style,link')) element.remove();
  for (const element of document.querySelectorAll('[title]')) element.removeAttribute('title');
  for (const image of document.querySelectorAll('img[alt]'))
    image.setAttribute('alt', (image.getAttribute('alt') ?? '').slice(0, ALT));
}

function* hiddenByStyle(
  document: PageDocument,
  { rules, variables, select }: PageStyles,
): Iterable<PageElement> {
  const whole = document.body.textContent.length;
  for (const { selector, style } of rules) {
    const isHidden = isHiding(style);
    if (!isHidden && !isFaded(style)) continue;
    for (const element of select(selector))
      if (isHidden || element.textContent.length < whole / 2) yield element;
  }
  for (const element of document.querySelectorAll('[style]')) {
    const style = readStyle(element.getAttribute('style') ?? '', variables);
    if (isHiding(style) || isFaded(style)) yield element;
  }
}

function removeComments(document: PageDocument): void {
  for (const comment of nodesOf(document, SHOW_COMMENT)) comment.remove();
}

/** What stands in them in another colour stays. */
function removeTexts(document: PageDocument, elements: ReadonlySet<PageElement>): void {
  if (elements.size === 0) return;
  for (const text of nodesOf(document, SHOW_TEXT))
    if (text.parentElement && elements.has(text.parentElement)) text.remove();
  for (const element of elements)
    if (element.textContent.trim() === '' && !element.querySelector('img')) element.remove();
}

// NodeFilter
const SHOW_TEXT = 4;
const SHOW_COMMENT = 128;

function nodesOf(document: PageDocument, show: number): readonly PageElement[] {
  const walker = document.createTreeWalker(document, show);
  const nodes: PageElement[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) nodes.push(node);
  return nodes;
}
