/** Whether what a style says hides a text from people. */

export type Style = ReadonlyMap<string, string>;

/** Also as hostile pages write it: with comments and escapes within the words. */
export function readStyle(text: string): Style {
  const plain = text
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\\([0-9a-f]{1,6})\s?/gi, (_escape, code: string) => characterOf(Number.parseInt(code, 16)))
    .toLowerCase();
  return new Map(
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
}

function characterOf(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/** Also of a variable that the same style sets. */
function valueOf(style: Style, name: string): string {
  const value = style.get(name) ?? '';
  const [, variable = ''] = /^var\(\s*(--[\w-]+)/.exec(value) ?? [];
  return style.get(variable) ?? value;
}

export function isHiding(style: Style): boolean {
  const is = (name: string, pattern: RegExp): boolean => pattern.test(valueOf(style, name));
  return (
    is('display', /^none$/) ||
    is('visibility', /^(?:hidden|collapse)$/) ||
    is('content-visibility', /^hidden$/) ||
    is('font', /(?:^|\s)[01]?(?:\.\d+)?(?:px|pt|em|rem|%)?\//) ||
    isTiny(style.get('font-size')) ||
    is('color', CLEAR) ||
    is('-webkit-text-fill-color', CLEAR) ||
    is('clip', /^rect\(\s*[01]?(?:px)?[\s,]/) ||
    is(
      'clip-path',
      /^(?:inset\(\s*(?:[5-9]\d|100)%|circle\(\s*0|polygon\((?:\s*0[a-z%]*\s+0[a-z%]*\s*,?)+\))/,
    ) ||
    is('zoom', /^(?:0?\.0\d*|0|[0-5]%)$/) ||
    is('scale', /^0(?:\.0+)?(?:\s|$)/) ||
    is('translate', /-\d{3,}/) ||
    is(
      'transform',
      /scale[xy3d]*\(\s*0(?:\.0+)?\s*[,)]|matrix\(\s*0\s*,\s*0\s*,\s*0\s*,\s*0|rotate[xy]\(\s*-?90deg|translate[xy3d]*\([^)]*-\d{3,}/,
    ) ||
    isOffScreen(style) ||
    isWithoutRoom(style)
  );
}

/** Apart, since pages that fade in are written so as a whole. */
export function isFaded(style: Style): boolean {
  const opacity = style.get('opacity') ?? /opacity\(([^)]*)\)/.exec(style.get('filter') ?? '')?.[1];
  const plain = opacity?.replace(/^calc\(\s*/, '');
  if (opacity === undefined || plain === undefined || !/^[\d.]/.test(plain)) return false;
  return Number.parseFloat(plain) / (opacity.includes('%') ? 100 : 1) <= 0.05;
}

const CLEAR =
  /^(?:transparent|(?:rgba|hsla)\([^)]*[,/]\s*0(?:\.0+)?%?\s*\)|#(?:[0-9a-f]{3}0|[0-9a-f]{6}00))$/;

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

const NAMED: Readonly<Record<string, string>> = {
  white: '#ffffff',
  snow: '#fffafa',
  ghostwhite: '#f8f8ff',
  black: '#000000',
};

/** Whether a text of the one colour cannot be seen on the other. */
export function areAlike(one: string, other: string): boolean {
  const [a, b] = [channelsOf(one), channelsOf(other)];
  if (!a || !b) return one === other;
  return a.every((channel, index) => Math.abs(channel - (b[index] ?? 0)) <= 8);
}

function channelsOf(colour: string): readonly number[] | undefined {
  const [, hex] = /^#([0-9a-f]{3}|[0-9a-f]{6})$/.exec(NAMED[colour] ?? colour) ?? [];
  if (hex !== undefined) {
    const digits = hex.length === 3 ? [...hex].map((digit) => digit + digit) : (hex.match(/../g) ?? []);
    return digits.map((pair) => Number.parseInt(pair, 16));
  }
  const [, inner] = /^rgba?\(([\d\s,]+?)(?:[,/]\s*1)?\)$/.exec(colour) ?? [];
  const numbers = inner?.split(/[\s,]+/).map(Number);
  return numbers?.length === 3 ? numbers : undefined;
}
