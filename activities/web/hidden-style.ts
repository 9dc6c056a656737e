/** Whether what a style says hides a text from people. */

import { isClear } from './colour.ts';

export type Style = ReadonlyMap<string, string>;

/** Also as hostile pages write it: with comments and escapes within the words. `variables`: those that the page as a whole has. */
export function readStyle(text: string, variables: Style = new Map()): Style {
  const plain = text
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\\([0-9a-f]{1,6})\s?/gi, (_escape, code: string) => characterOf(Number.parseInt(code, 16)))
    .toLowerCase();
  const style = new Map(
    plain.split(';').flatMap((part) => {
      const colon = part.indexOf(':');
      if (colon < 1) return [];
      const value = part
        .slice(colon + 1)
        .replace('!important', '')
        .trim();
      return [[part.slice(0, colon).trim(), value] as const];
    }),
  );
  for (const [name, value] of style)
    if (value.includes('var('))
      style.set(
        name,
        value.replace(
          /var\(\s*(--[\w-]+)\s*(?:,\s*([^()]*))?\)/g,
          (_use, variable: string, otherwise = '') =>
            style.get(variable) ?? variables.get(variable) ?? otherwise,
        ),
      );
  return style;
}

function characterOf(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/** What each property says where it hides. */
const HIDING: readonly (readonly [property: string, value: RegExp])[] = [
  ['display', /^none$/],
  ['visibility', /^(?:hidden|collapse)$/],
  ['content-visibility', /^hidden$/],
  ['font', /(?:^|\s)[01]?(?:\.\d+)?(?:px|pt|em|rem|%)?\//],
  ['filter', /blur\(\s*(?:\d{2,}|[5-9])/],
  ['letter-spacing', /^-(?:[1-9][\d.]*r?em|\d{2,}px)/],
  ['clip', /^rect\(\s*[01]?(?:px)?[\s,]/],
  ['clip-path', /^(?:inset\(\s*(?:[5-9]\d|100)%|circle\(\s*0|polygon\((?:\s*0[a-z%]*\s+0[a-z%]*\s*,?)+\))/],
  ['zoom', /^(?:0?\.0\d*|0|[0-5]%)$/],
  ['scale', /^0(?:\.0+)?(?:\s|$)/],
  ['translate', /-\d{3,}/],
  [
    'transform',
    /scale[xy3d]*\(\s*0(?:\.0+)?\s*[,)]|matrix\(\s*0\s*,\s*0\s*,\s*0\s*,\s*0|rotate[xy]\(\s*-?90deg|translate[xy3d]*\([^)]*-\d{3,}/,
  ],
];

export function isHiding(style: Style): boolean {
  return (
    HIDING.some(([property, value]) => value.test(style.get(property) ?? '')) ||
    MASKS.some((property) => CLEAR_MASK.test(style.get(property) ?? '')) ||
    isTiny(style.get('font-size')) ||
    (isClear(textColour(style)) && !isClipped(style)) ||
    isOffScreen(style) ||
    isWithoutRoom(style)
  );
}

export function textColour(style: Style): string {
  return style.get('-webkit-text-fill-color') ?? style.get('color') ?? '';
}

/** What is seen is the background, in the shape of the letters. */
function isClipped(style: Style): boolean {
  return /text/.test(`${style.get('background-clip')} ${style.get('-webkit-background-clip')}`);
}

const MASKS = ['mask', 'mask-image', '-webkit-mask', '-webkit-mask-image'];
/** All colours of it are clear. */
const CLEAR_MASK =
  /gradient\((?:[^(),]*(?:deg|turn|to [a-z ]+|circle|ellipse)[^(),]*,)?(?:\s*(?:transparent|#0{4}|#0{8}|(?:rgba?|hsla?)\([^()]*[,/]\s*0(?:\.0+)?%?\s*\))[\s\d.%]*(?:,|(?=\))))+\)/;

/** Apart, since pages that fade in are written so as a whole. */
export function isFaded(style: Style): boolean {
  const opacity = style.get('opacity') ?? /opacity\(([^)]*)\)/.exec(style.get('filter') ?? '')?.[1];
  const plain = opacity?.replace(/^calc\(\s*/, '');
  if (opacity === undefined || plain === undefined || !/^[\d.]/.test(plain)) return false;
  return Number.parseFloat(plain) / (opacity.includes('%') ? 100 : 1) <= 0.05;
}

/** Letters that nobody can read. */
function isTiny(size: string | undefined): boolean {
  const plain = (size ?? '').replace(/^calc\(\s*([^\s()]+)\s*\)$/, '$1');
  const [, number, unit] = /^(\d*\.?\d+)(px|pt|em|rem|%|vw|vh)?$/.exec(plain) ?? [];
  if (number === undefined) return false;
  return Number(number) <= ({ px: 1, pt: 1, '%': 5 }[unit ?? ''] ?? 0.1);
}

function isOffScreen(style: Style): boolean {
  const isFar = (name: string): boolean => {
    const [, number, unit] = /^-(\d+)[\d.]*(px|em|rem|vw|vh|%)/.exec(style.get(name) ?? '') ?? [];
    return number !== undefined && Number(number) >= ({ px: 500, em: 50, rem: 50 }[unit ?? ''] ?? 100);
  };
  const isPlaced = /^(?:absolute|fixed|relative|sticky)$/.test(style.get('position') ?? '');
  return (
    ['text-indent', 'margin-left', 'margin-top'].some(isFar) ||
    (isPlaced && ['left', 'right', 'top', 'bottom', 'inset'].some(isFar)) ||
    // To the right a page may be scrolled, yet nobody puts words so far.
    (isPlaced && /^\d{4,}(?:px|r?em|vw|%)/.test(style.get('left') ?? ''))
  );
}

function isWithoutRoom(style: Style): boolean {
  if (!/hidden|clip/.test(`${style.get('overflow')} ${style.get('overflow-y')} ${style.get('overflow-x')}`))
    return false;
  return ['width', 'height', 'max-width', 'max-height'].some((name) =>
    /^[01]?(?:\.\d+)?(?:px)?$/.test(style.get(name) || 'auto'),
  );
}
