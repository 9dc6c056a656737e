/**
 * Removes from a page what a viewer does not see, and what is no text, because instructions to models are hidden there.
 */
import type { PageDocument, PageElement } from './page-document.ts';
import { type Cascade, createCascade } from '../visible/cascade.ts';
import { type ComputedStyle, lettersOf } from '../visible/computed-style.ts';
import { canvasOf, type Ground, groundOf, isLaidOver, isUnseenColour } from '../visible/painting.ts';
import { isFaint, isUnseenBox, opacityOf } from '../visible/unseen-box.ts';

const UNSEEN = [
  'script,template,noscript,noframes,noembed,rp,body title,object[data],embed,iframe,frame,canvas,svg,audio,video,datalist,input,textarea,meter,progress',
  'annotation,annotation-xml,mphantom',
  '[aria-hidden="true"],.sr-only,.visually-hidden,.screen-reader-text',
  'img[width="0"],img[width="1"],img[height="0"],img[height="1"]',
].join(',');
const ALT = 200;

export function removeHidden(document: PageDocument): void {
  removeComments(document);
  openShadows(document);
  // A removal changes which rules apply to what stays.
  const unseen = unseenParts(document, createCascade(document));
  for (const element of [...document.querySelectorAll(UNSEEN), ...unseen.elements]) element.remove();
  for (const text of unseen.texts) removeText(text);
  for (const element of document.querySelectorAll('style,link')) element.remove();
  for (const element of document.querySelectorAll('[title]')) element.removeAttribute('title');
  for (const image of document.querySelectorAll('img[alt]'))
    image.setAttribute('alt', (image.getAttribute('alt') ?? '').slice(0, ALT));
}

/** A shadow tree is visible, and of the rest, only what has a slot in it (HTML, "shadowrootmode"). */
function openShadows(document: PageDocument): void {
  for (const template of document.querySelectorAll('template[shadowrootmode]')) {
    const host = template.parentElement;
    if (!host) continue;
    const shadow = template.innerHTML;
    template.remove();
    const light = host.innerHTML;
    host.innerHTML = shadow.replace(
      /<slot\b[^>]*>([^]*?)<\/slot\s*>/i,
      (_slot, usual: string) => light.trim() || usual,
    );
  }
}

interface Unseen {
  readonly elements: readonly PageElement[];
  readonly texts: readonly PageElement[];
}

interface Place {
  readonly ground: Ground;
  readonly opacity: number;
  /** Includes everything in it. */
  readonly isUnseen: boolean;
}

function unseenParts(document: PageDocument, { styleOf, isWhole }: Cascade): Unseen {
  const whole = document.body.textContent.length;
  const root = document.documentElement;
  const canvas = canvasOf(root ? styleOf(root) : new Map(), isWhole);
  const hasPictures = document.querySelector('img,picture,video,canvas,svg,[style*="url("]') !== null;
  const places = new Map<PageElement | null, Place>([
    [null, { ground: canvas.ground, opacity: 1, isUnseen: false }],
  ]);
  const elements: PageElement[] = [];

  for (const element of document.querySelectorAll('*')) {
    const around = places.get(element.parentElement) ?? {
      ground: canvas.ground,
      opacity: 1,
      isUnseen: false,
    };
    const style = styleOf(element);
    const own = opacityOf(style);
    // Pages that fade in are hidden as a whole, and what waits for its scripts declares itself hidden.
    const opacity = around.opacity * (isFaint(own) && element.textContent.length >= whole / 2 ? 1 : own);
    const isPage = /^(?:html|head|body)$/.test(element.localName);
    const isUnseen = around.isUnseen || (!isPage && (isFaint(opacity) || isUnseenBox(style)));
    const picturesBelow = hasPictures && isLaidOver(style);
    places.set(element, {
      ground: groundOf(style, around.ground, picturesBelow),
      opacity,
      isUnseen,
    });
    if (isUnseen && !around.isUnseen) elements.push(element);
    else if (element.localName === 'img' && isInvisible(style)) elements.push(element);
  }

  const texts = nodesOf(document, SHOW_TEXT).filter(({ parentElement }) => {
    if (!parentElement) return false;
    const style = styleOf(parentElement);
    const { ground } = places.get(parentElement) ?? { ground: canvas.ground };
    return isUnseenText(style) || isUnseenColour(style, ground, canvas.text);
  });
  return { elements, texts: texts.filter((text) => text.textContent.trim() !== '') };
}

function isInvisible(style: ComputedStyle): boolean {
  return /^(?:hidden|collapse)$/.test(style.get('visibility') ?? '');
}

/** Pixels of letters that nobody can read. */
const TINY = 1;
const FAR = 300;

function isUnseenText(style: ComputedStyle): boolean {
  const letters = lettersOf(style);
  const pixels = (name: string): number => Number.parseFloat(style.get(name) ?? '0') || 0;
  return (
    isInvisible(style) ||
    letters <= TINY ||
    pixels('letter-spacing') <= -letters ||
    (pixels('text-indent') <= -FAR && style.get('direction') !== 'rtl')
  );
}

function removeComments(document: PageDocument): void {
  for (const comment of nodesOf(document, SHOW_COMMENT)) comment.remove();
}

/** Also removes elements that are then empty, except pictures. */
function removeText(text: PageElement): void {
  let { parentElement } = text;
  text.remove();
  while (parentElement && !/^(?:html|body|td|th)$/.test(parentElement.localName)) {
    const around: PageElement | null = parentElement.parentElement;
    if (parentElement.textContent.trim() !== '' || parentElement.querySelector('img')) return;
    parentElement.remove();
    parentElement = around;
  }
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
