/** Reads colours in styles (CSS Color 4 and 5), as far as needed to detect text in the colour of its background. */
import { convert, utils } from '@asamuzakjp/css-color';

export interface Colour {
  /** 0 to 255 each. */
  readonly channels: readonly [red: number, green: number, blue: number];
  /** 0 to 1. */
  readonly alpha: number;
}

export const WHITE: Colour = { channels: [255, 255, 255], alpha: 1 };
export const BLACK: Colour = { channels: [0, 0, 0], alpha: 1 };

/** Colours of a browser whose user has chosen nothing. */
const SYSTEM: Readonly<Record<string, string>> = {
  canvas: '#fff',
  canvastext: '#000',
  field: '#fff',
  fieldtext: '#000',
  buttonface: '#efefef',
  buttontext: '#000',
  highlight: '#b5d5ff',
  highlighttext: '#000',
  linktext: '#00e',
  visitedtext: '#551a8b',
  graytext: '#808080',
  mark: '#ff0',
  marktext: '#000',
};

/** Expects lower case. Returns undefined if it is no colour, or depends on something else. */
export function readColour(text: string): Colour | undefined {
  const light = /^light-dark\(\s*((?:[^(),]|\([^()]*\))+),/.exec(text)?.[1]?.trim();
  const written = light ?? SYSTEM[text] ?? text;
  if (written === 'currentcolor' || !utils.isColor(written)) return undefined;
  const [red, green, blue, alpha] = convert.colorToRgb(written);
  return { channels: [red, green, blue], alpha };
}

/** What is seen of a colour on another one. */
export function laidOver(colour: Colour, behind: Colour): Colour {
  const channel = (index: 0 | 1 | 2): number =>
    colour.channels[index] * colour.alpha + behind.channels[index] * (1 - colour.alpha);
  return { channels: [channel(0), channel(1), channel(2)], alpha: 1 };
}

/** Text is invisible if no channel differs by more. */
const LIKE = 24;

export function areAlike(one: Colour, other: Colour): boolean {
  return one.channels.every((channel, index) => Math.abs(channel - (other.channels[index] ?? 0)) <= LIKE);
}
