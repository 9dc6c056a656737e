/** Reads lengths in styles, in CSS pixels (CSS Values 4). */
import { utils } from '@asamuzakjp/css-color';
import { SCREEN } from './media.ts';

export interface Measure {
  /** Font size in pixels, for `em`. */
  readonly letters: number;
  /** What a percentage refers to. */
  readonly whole: number;
}

/** Font size of the root element. */
export const LETTERS = 16;

const PIXELS: Readonly<Record<string, number>> = {
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 9.6 / 2.54,
  q: 2.4 / 2.54,
  rem: LETTERS,
  vw: SCREEN.width / 100,
  vh: SCREEN.height / 100,
  vmin: SCREEN.height / 100,
  vmax: SCREEN.width / 100,
  vi: SCREEN.width / 100,
  vb: SCREEN.height / 100,
};
/** Units in widths of a letter. */
const OF_LETTERS: Readonly<Record<string, number>> = { em: 1, ex: 0.5, ch: 0.5, cap: 0.7, ic: 1, lh: 1.2 };

/** Returns undefined for what is no length, such as `auto`. */
export function pixelsOf(value: string, { letters, whole }: Measure): number | undefined {
  const plain = value.includes('(') ? calculated(value, { letters, whole }) : value;
  const [, number, unit = ''] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)$/.exec(plain) ?? [];
  if (number === undefined) return undefined;
  const size = Number(number);
  if (size === 0) return 0;
  if (unit === '%') return (size * whole) / 100;
  const factor =
    OF_LETTERS[unit] === undefined ? PIXELS[unit.replace(/^[sld](?=v)/, '')] : OF_LETTERS[unit] * letters;
  return factor === undefined ? undefined : size * factor;
}

function calculated(value: string, { letters, whole }: Measure): string {
  const without = value.replace(/([\d.]+)%/g, (_all, part: string) => `${(Number(part) * whole) / 100}px`);
  return utils.cssCalc(without, {
    format: 'computedValue',
    dimension: {
      em: letters,
      rem: LETTERS,
      vw: SCREEN.width / 100,
      vh: SCREEN.height / 100,
    },
  });
}

/** A number or a percentage as one; undefined for anything else. */
export function numberOf(value: string): number | undefined {
  const plain = value.includes('(') ? utils.cssCalc(value, { format: 'computedValue' }) : value;
  const [, number, percent] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(%?)$/.exec(plain) ?? [];
  return number === undefined ? undefined : Number(number) / (percent ? 100 : 1);
}

const DEGREES: Readonly<Record<string, number>> = { deg: 1, grad: 0.9, rad: 180 / Math.PI, turn: 360 };

/** Degrees; undefined for what is no angle. */
export function degreesOf(value: string): number | undefined {
  const plain = value.includes('(') ? utils.cssCalc(value, { format: 'computedValue' }) : value;
  const [, number, unit = 'deg'] =
    /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(deg|grad|rad|turn)?$/.exec(plain) ?? [];
  return number === undefined ? undefined : Number(number) * (DEGREES[unit] ?? 1);
}
