/**
 * Computes a declaration for an element: it expands shorthands, inserts variables, and omits what no browser accepts
 * (CSS Cascade 5).
 */
import { readColour } from './colour.ts';
import { LETTERS, type Measure, pixelsOf } from './lengths.ts';
import { isValid, SCREEN } from './media.ts';
import { type Declaration, splitTokens } from './style-sheet.ts';

/** Longhand properties in lower case; lengths of inherited ones in pixels. Includes custom ones. */
export type ComputedStyle = ReadonlyMap<string, string>;

export const NO_STYLE: ComputedStyle = new Map();

/** Properties that are inherited. */
const INHERITED = new Set([
  'visibility',
  'color',
  '-webkit-text-fill-color',
  '-webkit-text-stroke-width',
  '-webkit-text-stroke-color',
  'text-shadow',
  'font-size',
  'letter-spacing',
  'text-indent',
  'line-height',
  'direction',
  'white-space',
]);

const OWN = new Set([
  'display',
  'position',
  'content',
  'content-visibility',
  'contain',
  'opacity',
  'filter',
  'clip',
  'clip-path',
  'zoom',
  'scale',
  'rotate',
  'translate',
  'transform',
  'backface-visibility',
  'left',
  'right',
  'top',
  'bottom',
  'margin-left',
  'margin-top',
  'padding-left',
  'padding-top',
  'padding-bottom',
  'overflow-x',
  'overflow-y',
  'width',
  'height',
  'max-width',
  'max-height',
  'min-width',
  'min-height',
  'background-color',
  'background-image',
  'background-clip',
  'mask-image',
  'mask-size',
  'animation',
  'color-scheme',
]);

const SIDES = ['top', 'right', 'bottom', 'left'] as const;
const LOGICAL: Readonly<Record<string, string>> = {
  'block-size': 'height',
  'inline-size': 'width',
  'max-block-size': 'max-height',
  'max-inline-size': 'max-width',
  'min-block-size': 'min-height',
  'min-inline-size': 'min-width',
  'overflow-block': 'overflow-y',
  'overflow-inline': 'overflow-x',
  'inset-inline-start': 'left',
  'inset-inline-end': 'right',
  'inset-block-start': 'top',
  'inset-block-end': 'bottom',
  'margin-inline-start': 'margin-left',
  'margin-block-start': 'margin-top',
  'padding-inline-start': 'padding-left',
  'padding-block-start': 'padding-top',
  'padding-block-end': 'padding-bottom',
  '-webkit-mask-image': 'mask-image',
  '-webkit-mask-size': 'mask-size',
  '-webkit-clip-path': 'clip-path',
  '-webkit-filter': 'filter',
  '-webkit-transform': 'transform',
  '-webkit-opacity': 'opacity',
  '-webkit-background-clip': 'background-clip',
  '-webkit-backface-visibility': 'backface-visibility',
  '-webkit-animation': 'animation',
};

type Longhands = readonly (readonly [property: string, value: string])[];

type Shorthand = (value: string, words: readonly string[], property: string) => Longhands;

const ofSides: Shorthand = (_value, words, property) =>
  SIDES.map((side, index) => [property === 'inset' ? side : `${property}-${side}`, sideOf(words, index)]);
const ofEnds: Shorthand = (_value, [start = '', end = start], property) => [
  [LOGICAL[`${property}-start`] ?? '', start],
  [LOGICAL[`${property}-end`] ?? '', end],
];
const ofMask: Shorthand = (value) => [
  ['mask-image', value],
  ['mask-size', /\/\s*([^\s,]+(?:\s+[\d.][^\s,]*)?)/.exec(value)?.[1] ?? 'auto'],
];

const SHORTHANDS: Readonly<Record<string, Shorthand>> = {
  margin: ofSides,
  padding: ofSides,
  inset: ofSides,
  'margin-inline': ofEnds,
  'margin-block': ofEnds,
  'padding-inline': ofEnds,
  'padding-block': ofEnds,
  'inset-inline': ofEnds,
  'inset-block': ofEnds,
  overflow: (_value, [across = '', down = across]) => [
    ['overflow-x', across],
    ['overflow-y', down],
  ],
  font: fontOf,
  background: backgroundOf,
  '-webkit-text-stroke': (_value, words) => [
    ['-webkit-text-stroke-width', words.find((word) => /^[\d.]/.test(word)) ?? '0'],
    ['-webkit-text-stroke-color', words.find(readColour) ?? 'currentcolor'],
  ],
  mask: ofMask,
  '-webkit-mask': ofMask,
};

function longhandsOf(property: string, value: string): Longhands {
  return (
    SHORTHANDS[property]?.(value, splitTokens(value), property) ?? [[LOGICAL[property] ?? property, value]]
  );
}

/** Whether the property, or one that it is short for, affects visibility. */
export function isAboutSight(property: string): boolean {
  const name = LOGICAL[property] ?? property;
  return (
    name.startsWith('--') || name === 'all' || name in SHORTHANDS || OWN.has(name) || INHERITED.has(name)
  );
}

function sideOf(words: readonly string[], index: number): string {
  const [top = '', right = top, bottom = top, remaining = right] = words;
  return [top, right, bottom, remaining][index] ?? '';
}

function fontOf(value: string): Longhands {
  const [, size, line] =
    /(?:^|\s)((?:[\d.]+(?:[a-z]+|%)?|(?:calc|min|max|clamp)\((?:[^()]|\([^()]*\))*\)|(?:xx?-)?(?:small|large)|medium|smaller|larger|xxx-large))(?:\s*\/\s*([^\s]+))?\s+\S/.exec(
      value,
    ) ?? [];
  if (size === undefined) return [];
  return [
    ['font-size', size],
    ['line-height', line ?? 'normal'],
  ];
}

function backgroundOf(value: string, words: readonly string[]): Longhands {
  const picture = /(?:url|gradient|image-set|element|cross-fade|paint)\(/.test(value);
  return [
    ['background-color', words.find((word) => word === 'currentcolor' || readColour(word)) ?? 'transparent'],
    ['background-image', picture ? value : 'none'],
    ['background-clip', words.includes('text') ? 'text' : 'border-box'],
  ];
}

const WIDE = /^(?:inherit|initial|unset|revert|revert-layer)$/;

/** Applies `declarations` in order, the decisive ones last; `around` is the style of the enclosing element. */
export function computeStyle(
  declarations: readonly Declaration[],
  around: ComputedStyle,
  initial: ReadonlyMap<string, string>,
): ComputedStyle {
  const custom = new Map(initial);
  const inherited = new Map<string, string>();
  for (const [property, value] of around)
    if (property.startsWith('--')) custom.set(property, value);
    else if (INHERITED.has(property)) inherited.set(property, value);
  for (const { property, value } of declarations)
    if (property.startsWith('--') && !WIDE.test(value)) custom.set(property, value);
  const style = new Map(inherited);

  function declare(property: string, written: string): void {
    // A variable without a value makes the declaration have no effect.
    const value = withVariables(written, custom)?.toLowerCase().trim() ?? 'unset';
    if (WIDE.test(value)) setWide(property, value);
    else if (isTaken(property, value))
      for (const [name, part] of longhandsOf(property, value)) set(name, part);
  }

  function set(name: string, value: string): void {
    if (name === 'color' && value === 'currentcolor') setOne(name, 'inherit');
    else if (INHERITED.has(name)) style.set(name, absolute(name, value, inherited));
    else if (OWN.has(name)) style.set(name, value);
  }

  function setWide(property: string, value: string): void {
    const names =
      property === 'all'
        ? [...style.keys(), ...inherited.keys()]
        : longhandsOf(property, value).map(([name]) => name);
    for (const name of names) setOne(name, value);
  }

  function setOne(name: string, wide: string): void {
    const passed = wide === 'inherit' ? around.get(name) : inherited.get(name);
    if (wide !== 'initial' && passed !== undefined) style.set(name, passed);
    else if (wide === 'initial' && name === 'color') style.set(name, 'canvastext');
    else style.delete(name);
  }

  for (const { property, value } of declarations) if (!property.startsWith('--')) declare(property, value);
  for (const [property, value] of custom) style.set(property, value);
  return style;
}

const MAX_VALUE = 2_000;
const VARIABLE = /var\(\s*(--[^\s,()]+)\s*(?:,((?:[^()]|\([^()]*\))*))?\)/;
const MAX_VARIABLES = 20;

/** Returns undefined if a variable is unknown and has no fallback. */
function withVariables(written: string, custom: ReadonlyMap<string, string>): string | undefined {
  let value = written.slice(0, MAX_VALUE);
  for (let count = 0; count < MAX_VARIABLES && value.includes('var('); count += 1) {
    // The innermost one is replaced first.
    const at = value.lastIndexOf('var(');
    const [use, name = '', otherwise] = VARIABLE.exec(value.slice(at)) ?? [];
    if (use === undefined) return undefined;
    const known = custom.get(name) ?? otherwise;
    if (known === undefined) return undefined;
    value = `${value.slice(0, at)}${known.trim()}${value.slice(at + use.length)}`.slice(0, MAX_VALUE);
  }
  return value.includes('var(') ? undefined : value;
}

const OF_COLOURS = /color|background|shadow/;

/** Browsers know newer colours than tables of valid values. */
function isTaken(property: string, value: string): boolean {
  return isValid(property, value) || (OF_COLOURS.test(property) && splitTokens(value).some(readColour));
}

const SIZES: Readonly<Record<string, number>> = {
  'xx-small': 9,
  'x-small': 10,
  small: 13,
  medium: 16,
  large: 18,
  'x-large': 24,
  'xx-large': 32,
  'xxx-large': 48,
};

/** Inherited lengths are inherited in pixels. */
function absolute(name: string, value: string, inherited: ComputedStyle): string {
  const around = lettersOf(inherited);
  const pixels = (measure: Measure): string => {
    const size = pixelsOf(value, measure);
    return size === undefined ? value : `${size}px`;
  };
  switch (name) {
    case 'font-size':
      if (value === 'smaller' || value === 'larger')
        return `${around * (value === 'smaller' ? 5 / 6 : 6 / 5)}px`;
      return SIZES[value] === undefined ? pixels({ letters: around, whole: around }) : `${SIZES[value]}px`;
    case 'letter-spacing':
    case 'text-indent':
      return pixels({ letters: around, whole: SCREEN.width });
    default:
      return value;
  }
}

/** Font size in pixels. */
export function lettersOf(style: ComputedStyle): number {
  const size = style.get('font-size');
  return size?.endsWith('px') ? Number.parseFloat(size) : LETTERS;
}
