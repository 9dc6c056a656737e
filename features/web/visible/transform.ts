/** What remains visible of an element after transforms (CSS Transforms 1 and 2). */
import type { ComputedStyle } from './computed-style.ts';
import { degreesOf, type Measure, numberOf, pixelsOf } from './lengths.ts';
import { splitTokens } from './style-sheet.ts';

export interface Transformed {
  /** Fraction of its size; 0 if it is turned away or flattened. */
  readonly width: number;
  readonly height: number;
  /** Pixels to the right and down. */
  readonly right: number;
  readonly down: number;
  /** True if its back is shown. */
  readonly isTurned: boolean;
}

interface State {
  width: number;
  height: number;
  right: number;
  down: number;
  isTurned: boolean;
  /** Distance of the eye, in pixels. */
  readonly distance: number;
}

/** One function's arguments. */
interface Arguments {
  readonly texts: readonly string[];
  pixels(index: number): number;
  number(index: number): number | undefined;
  /** The cosine of an angle. */
  cosine(index: number): number;
}

type Effect = (state: State, args: Arguments) => Partial<State>;

const rotateX: Effect = ({ height, isTurned }, args) => turned('height', height, isTurned, args.cosine(0));
const rotateY: Effect = ({ width, isTurned }, args) => turned('width', width, isTurned, args.cosine(0));
const skew: Effect = (_state, args) =>
  args.texts.some((_text, index) => Math.abs(args.cosine(index)) < 0.02) ? { width: 0 } : {};

const EFFECTS: Readonly<Record<string, Effect>> = {
  translate: (state, args) => moved(state, args.pixels(0), args.pixels(1), args.pixels(2)),
  translate3d: (state, args) => moved(state, args.pixels(0), args.pixels(1), args.pixels(2)),
  translatex: (state, args) => moved(state, args.pixels(0), 0),
  translatey: (state, args) => moved(state, 0, args.pixels(0)),
  translatez: (state, args) => moved(state, 0, 0, args.pixels(0)),
  scale: (state, args) => sized(state, args.number(0) ?? 1, args.number(1) ?? args.number(0) ?? 1),
  scale3d: (state, args) => sized(state, args.number(0) ?? 1, args.number(1) ?? 1),
  scalex: (state, args) => sized(state, args.number(0) ?? 1, 1),
  scaley: (state, args) => sized(state, 1, args.number(0) ?? 1),
  rotatex: rotateX,
  rotatey: rotateY,
  rotate3d(state, { texts, number, cosine, ...others }) {
    const [x, y, z] = [0, 1, 2].map((index) => number(index) ?? 0);
    const angle = { ...others, texts, number, cosine: () => cosine(3) };
    if (z || (x && y)) return {};
    return x ? rotateX(state, angle) : rotateY(state, angle);
  },
  skew,
  skewx: skew,
  skewy: skew,
  perspective: (_state, args) => ({ distance: args.pixels(0) || Number.POSITIVE_INFINITY }),
  matrix(state, { number }) {
    const [a = 1, b = 0, c = 0, d = 1] = [0, 1, 2, 3].map(number);
    // How much area is left, whichever way it is turned.
    const area = Math.abs(a * d - b * c);
    return { ...sized(state, area, area), ...moved(state, number(4) ?? 0, number(5) ?? 0) };
  },
  matrix3d(state, { number }) {
    const [a = 1, b = 0, c = 0, d = 1, whole = 1] = [0, 1, 4, 5, 15].map(number);
    const area = Math.abs(a * d - b * c) / Math.abs(whole || 1);
    return { ...sized(state, area, area), ...moved(state, number(12) ?? 0, number(13) ?? 0) };
  },
};

function turned(side: 'width' | 'height', size: number, isTurned: boolean, cosine: number): Partial<State> {
  return { [side]: size * cosine, isTurned: cosine < 0 ? !isTurned : isTurned };
}

function sized({ width, height }: State, across: number, down: number): Partial<State> {
  return { width: width * across, height: height * down };
}

function moved(state: State, right: number, down: number, nearer = 0): Partial<State> {
  const place = { right: state.right + right, down: state.down + down };
  if (nearer === 0 || state.distance === Number.POSITIVE_INFINITY) return place;
  // What is behind the eye is invisible.
  const seen = nearer >= state.distance ? 0 : state.distance / (state.distance - nearer);
  return { ...place, ...sized(state, seen, seen) };
}

const FUNCTION = /([a-z]+[a-z0-9]*)\(((?:[^()]|\([^()]*(?:\([^()]*\))?[^()]*\))*)\)/g;

export function transformOf(style: ComputedStyle, measure: Measure): Transformed {
  let state: State = {
    width: 1,
    height: 1,
    right: 0,
    down: 0,
    isTurned: false,
    distance: Number.POSITIVE_INFINITY,
  };
  for (const [name, texts] of functionsOf(style)) {
    const args: Arguments = {
      texts,
      pixels: (index) => pixelsOf(texts[index] ?? '0', measure) ?? 0,
      number: (index) => numberOf(texts[index] ?? ''),
      cosine: (index) => Math.cos(((degreesOf(texts[index] ?? '0') ?? 0) * Math.PI) / 180),
    };
    state = { ...state, ...EFFECTS[name]?.(state, args) };
  }
  return state;
}

/** Functions in the order in which browsers apply them. */
function functionsOf(style: ComputedStyle): readonly (readonly [name: string, args: readonly string[]])[] {
  const [translate, rotate, scale] = ['translate', 'rotate', 'scale'].map((name) =>
    splitTokens(style.get(name) ?? ''),
  );
  const called = [...(style.get('transform') ?? '').matchAll(FUNCTION)];
  return [
    ['translate', translate ?? []],
    ...rotationOf(rotate ?? []),
    ['scale', scale ?? []],
    ...called.map(([, name = '', args = '']) => [name, argumentsOf(args)] as const),
  ];
}

/** `y 90deg`, or a direction of three numbers and an angle. */
function rotationOf(words: readonly string[]): readonly (readonly [string, readonly string[]])[] {
  if (words.length === 4) return [['rotate3d', words]];
  return words.length === 2 ? [[`rotate${words[0]}`, words.slice(1)]] : [];
}

function argumentsOf(text: string): readonly string[] {
  return (text.match(/(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+/g) ?? []).map((one) => one.trim());
}
