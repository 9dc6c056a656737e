/** Whether an element is invisible with everything in it, whatever that declares itself. */
import { readColour } from './colour.ts';
import { type ComputedStyle, lettersOf } from './computed-style.ts';
import { numberOf, pixelsOf } from './lengths.ts';
import { SCREEN } from './media.ts';
import { transformOf } from './transform.ts';
import { splitTokens } from './style-sheet.ts';

export function isUnseenBox(style: ComputedStyle): boolean {
  return (
    style.get('display') === 'none' ||
    style.get('content-visibility') === 'hidden' ||
    /(?:url|image-set)\(/.test(style.get('content') ?? '') ||
    isBlurred(style) ||
    isCutAway(style) ||
    isShrunk(style) ||
    isOffScreen(style) ||
    isEmptyBox(style) ||
    isMasked(style)
  );
}

/** A lower opacity is invisible. */
const SEEN = 0.05;

/** 0 to 1, for the element alone. */
export function opacityOf(style: ComputedStyle): number {
  const own = numberOf(style.get('opacity') ?? '1') ?? 1;
  const filter = /opacity\(([^()]*(?:\([^()]*\))?)\)/.exec(style.get('filter') ?? '')?.[1];
  return Math.max(0, Math.min(1, own)) * (numberOf(filter?.trim() ?? '1') ?? 1);
}

export function isFaint(opacity: number): boolean {
  return opacity <= SEEN;
}

function isBlurred(style: ComputedStyle): boolean {
  const radius = /blur\(([^()]*(?:\([^()]*\))?)\)/.exec(style.get('filter') ?? '')?.[1];
  return (lengthOf(style, radius?.trim()) ?? 0) >= 5;
}

function lengthOf(
  style: ComputedStyle,
  value: string | undefined,
  whole: number = SCREEN.width,
): number | undefined {
  return value === undefined ? undefined : pixelsOf(value, { letters: lettersOf(style), whole });
}

/** Size of the box by which clips are measured. */
const BOX = 100;

function isCutAway(style: ComputedStyle): boolean {
  const measure = { letters: lettersOf(style), whole: BOX };
  const lengths = (text: string): readonly number[] =>
    splitTokens(text.replaceAll(',', ' ')).map(
      (word) => pixelsOf(word, measure) ?? (word === 'auto' ? Number.NaN : 0),
    );
  const clip = /^rect\((.*)\)$/.exec(style.get('clip') ?? '')?.[1];
  if (
    clip !== undefined &&
    /^(?:absolute|fixed)$/.test(style.get('position') ?? '') &&
    isEmptyRect(lengths(clip))
  )
    return true;
  const [, shape = '', inside = ''] = /^([a-z]+)\((.*)\)/.exec(style.get('clip-path') ?? '') ?? [];
  return EMPTY[shape]?.(inside, lengths) ?? false;
}

function isEmptyRect([top = 0, right = 0, bottom = 0, remaining = 0]: readonly number[]): boolean {
  return right - remaining <= 1 || bottom - top <= 1;
}

type IsEmpty = (inside: string, lengths: (text: string) => readonly number[]) => boolean;

const isDot: IsEmpty = (inside, lengths) =>
  lengths(inside.replace(/\bat\b.*$/, '')).some((radius) => radius <= 1);

/** For each shape (CSS Shapes 1), whether it contains next to nothing. */
const EMPTY: Readonly<Record<string, IsEmpty>> = {
  inset(inside, lengths) {
    const [top = 0, right = top, bottom = top, remaining = right] = lengths(
      inside.replace(/\bround\b.*$/, ''),
    );
    return top + bottom >= BOX - 1 || remaining + right >= BOX - 1;
  },
  circle: isDot,
  ellipse: isDot,
  rect: (inside, lengths) => isEmptyRect(lengths(inside)),
  xywh(inside, lengths) {
    const [, , width = 0, height = 0] = lengths(inside);
    return width <= 1 || height <= 1;
  },
  polygon: (inside, lengths) =>
    areaOf(inside.split(',').map((point) => lengths(point.replace(/^\s*(?:nonzero|evenodd)\b/, '')))) <= 4,
  path: (inside) => extentOf(inside.match(/-?\d*\.?\d+/g)?.map(Number) ?? []) <= 4,
};

function areaOf(points: readonly (readonly number[])[]): number {
  const twice = points.reduce((sum, [x = 0, y = 0], index) => {
    const [nextX = 0, nextY = 0] = points[(index + 1) % points.length] ?? [];
    return sum + x * nextY - nextX * y;
  }, 0);
  return Math.abs(twice) / 2;
}

/** The area of the points' bounding box; coordinates across and down alternate. */
function extentOf(numbers: readonly number[]): number {
  const range = (rest: 0 | 1): number => {
    const those = numbers.filter((_number, index) => index % 2 === rest);
    return those.length === 0 ? 0 : Math.max(...those) - Math.min(...those);
  };
  return range(0) * range(1);
}

/** Fraction of its own size in one direction; a smaller one is a line or a dot. */
const SMALL = 0.1;
/** Pixels to the left or above after which nothing of it is left on the screen. */
const FAR = 300;

function isShrunk(style: ComputedStyle): boolean {
  const zoom = numberOf(style.get('zoom') ?? '1') ?? 1;
  if (zoom > 0 && zoom <= SMALL) return true;
  if (!['transform', 'scale', 'rotate', 'translate'].some((name) => style.has(name))) return false;
  const remaining = transformOf(style, { letters: lettersOf(style), whole: SCREEN.width });
  if (Math.abs(remaining.width) <= SMALL || Math.abs(remaining.height) <= SMALL) return true;
  if (remaining.isTurned && style.get('backface-visibility') === 'hidden') return true;
  return remaining.right <= -FAR || remaining.down <= -FAR;
}

/** Nobody scrolls this far to the right or down. */
const BEYOND = 1_000;

function isOffScreen(style: ComputedStyle): boolean {
  const at: At = (name) => {
    const whole = /top|bottom/.test(name) ? SCREEN.height : SCREEN.width;
    return lengthOf(style, style.get(name), whole) ?? 0;
  };
  if (['margin-left', 'margin-top'].some((name) => at(name) <= -FAR)) return true;
  if ((style.get('overflow-x') ?? 'visible') !== 'visible' && isPushedOut(style, at)) return true;
  const position = style.get('position') ?? '';
  if (position === 'fixed' && isBesideScreen(at)) return true;
  if (!/^(?:absolute|fixed|relative)$/.test(position)) return false;
  return (
    ['left', 'top'].some((name) => at(name) <= -FAR) ||
    ['left', 'right', 'bottom'].some((name) => at(name) >= BEYOND)
  );
}

/** Pixels of a property. */
type At = (name: string) => number;

function isPushedOut(style: ComputedStyle, at: At): boolean {
  return at('padding-left') >= BEYOND || (at('text-indent') >= BEYOND && style.get('direction') !== 'rtl');
}

/** A fixed element does not move when the page is scrolled. */
function isBesideScreen(at: At): boolean {
  return (
    at('top') >= SCREEN.height ||
    at('left') >= SCREEN.width ||
    at('bottom') <= -100 ||
    at('right') <= -SCREEN.width
  );
}

/** Letters of three pixels' height are not readable. */
const LOW = 3;

/** True if it has no space and hides what does not fit. */
function isEmptyBox(style: ComputedStyle): boolean {
  const contain = style.get('contain') ?? '';
  const isClipped = (way: 'x' | 'y'): boolean => {
    const [own = 'visible', other = 'visible'] = [
      style.get(`overflow-${way}`),
      style.get(`overflow-${way === 'x' ? 'y' : 'x'}`),
    ];
    // If one direction scrolls or hides, the other one does as well.
    return own !== 'visible' || !/^(?:visible|clip)$/.test(other) || /paint|strict|content/.test(contain);
  };
  const size = (name: string): number | undefined => {
    const value = style.get(name);
    // A share of an undefined height is as high as the contents.
    return value?.endsWith('%') && name.endsWith('height') ? undefined : lengthOf(style, value, BOX);
  };
  const isNone = (way: 'width' | 'height'): boolean =>
    [size(way), size(`max-${way}`)].some((found) => found !== undefined && found <= LOW) &&
    (size(`min-${way}`) ?? 0) <= LOW;
  const hasNoHeight =
    isNone('height') ||
    ((/size|strict/.test(contain) || size('line-height') === 0) && style.get('height') === undefined);
  // Pictures are placed in the padding of boxes without a height.
  if (isClipped('y') && hasNoHeight && (size('padding-bottom') ?? 0) <= LOW) return true;
  return isClipped('x') && isNone('width');
}

function isMasked(style: ComputedStyle): boolean {
  const image = style.get('mask-image') ?? 'none';
  if (image === 'none') return false;
  if (
    splitTokens(style.get('mask-size') ?? 'auto').some(
      (word) => pixelsOf(word, { letters: 16, whole: BOX }) === 0,
    )
  )
    return true;
  if (!/gradient\(/.test(image) || image.includes('url(')) return false;
  const colours = coloursOf(image);
  return colours.length > 0 && colours.every(({ alpha }) => isFaint(alpha));
}

/** The colours that a gradient has. */
export function coloursOf(image: string) {
  return [
    ...image.matchAll(
      /(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix|light-dark)\((?:[^()]|\([^()]*\))*\)|#[0-9a-f]{3,8}\b|[a-z]+/g,
    ),
  ]
    .map(([word]) => readColour(word))
    .filter((colour) => colour !== undefined);
}
