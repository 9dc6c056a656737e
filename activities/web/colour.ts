/** Colours as styles write them (CSS Color 4), as far as it takes to see that a text has the colour of what it stands on. */

export interface Colour {
  /** 0 to 255. */
  readonly channels: readonly number[];
  /** 0 to 1. */
  readonly alpha: number;
}

/** Those near white and black, in which texts are hidden. */
const NAMED: Readonly<Record<string, string>> = {
  white: '#fff',
  snow: '#fffafa',
  ghostwhite: '#f8f8ff',
  floralwhite: '#fffaf0',
  ivory: '#fffff0',
  mintcream: '#f5fffa',
  azure: '#f0ffff',
  whitesmoke: '#f5f5f5',
  black: '#000',
  transparent: '#0000',
};
const CLEAR: Colour = { channels: [0, 0, 0], alpha: 0 };

/** In small letters. Undefined where this does not know the notation. */
export function readColour(text: string): Colour | undefined {
  const written = NAMED[text] ?? text;
  if (/^color-mix\(.*\btransparent\s+(?:9\d|100)%/.test(written)) return CLEAR;
  return fromHex(written) ?? fromFunction(written);
}

function fromHex(text: string): Colour | undefined {
  const [, hex] = /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.exec(text) ?? [];
  if (hex === undefined) return undefined;
  const pairs = hex.length < 5 ? [...hex].map((digit) => digit + digit) : (hex.match(/../g) ?? []);
  const numbers = pairs.map((pair) => Number.parseInt(pair, 16));
  return { channels: numbers.slice(0, 3), alpha: (numbers[3] ?? 255) / 255 };
}

function fromFunction(text: string): Colour | undefined {
  const [, name = '', inner = ''] = /^(rgba?|hsla?|lab|lch|oklab|oklch|color)\(([^()]*)\)$/.exec(text) ?? [];
  const words = inner.trim().split(/[\s,/]+/);
  const [first = '', second = '', third = '', opacity = '1'] = name === 'color' ? words.slice(1) : words;
  const alpha = numberOf(opacity, 1);
  if (alpha <= 0) return CLEAR;
  const channels = channelsOf(name, first, second, third);
  return channels?.every(Number.isFinite) ? { channels, alpha } : undefined;
}

function channelsOf(
  name: string,
  first: string,
  second: string,
  third: string,
): readonly number[] | undefined {
  switch (name) {
    case 'rgb':
    case 'rgba':
      return [first, second, third].map((channel) => numberOf(channel, 255));
    case 'hsl':
    case 'hsla':
      return fromHsl(Number.parseFloat(first), numberOf(second, 1), numberOf(third, 1));
    case 'color':
      return [first, second, third].map((channel) => numberOf(channel, 1) * 255);
    case 'oklab':
    case 'oklch':
      return greyOf(numberOf(first, 1), numberOf(second, 0.4));
    case 'lab':
    case 'lch':
      return greyOf(numberOf(first, 100) / 100, numberOf(second, 125) / 125);
    default:
      return undefined;
  }
}

/** A percentage is one of `whole`. */
function numberOf(text: string, whole: number): number {
  return text.endsWith('%') ? (Number.parseFloat(text) / 100) * whole : Number(text);
}

/** Saturation and lightness are 0 to 1. */
function fromHsl(hue: number, saturation: number, lightness: number): readonly number[] {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((offset) => {
    const at = (((offset + hue / 30) % 12) + 12) % 12;
    return 255 * (lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1)));
  });
}

/** Of white and black, which have no chroma; what stands between them takes more than this to work out. */
function greyOf(lightness: number, chroma: number): readonly number[] | undefined {
  if (Math.abs(chroma) > 0.02 || (lightness > 0.03 && lightness < 0.97)) return undefined;
  return Array.from({ length: 3 }, () => Math.round(lightness) * 255);
}

/** A text of less opacity than this is not seen. */
const SEEN_ALPHA = 0.05;
/** A text is not seen where no channel differs by more. */
const LIKE = 16;

export function isClear(text: string): boolean {
  const alpha = readColour(text)?.alpha;
  return alpha !== undefined && alpha <= SEEN_ALPHA;
}

/** Whether a text of the one colour cannot be seen on the other. */
export function areAlike(one: string, other: string): boolean {
  const [a, b] = [readColour(one), readColour(other)];
  if (!a || !b)
    return one === other && /^[a-z]+$/.test(one) && !/^(?:inherit|initial|unset|revert)$/.test(one);
  return a.channels.every((channel, index) => Math.abs(channel - (b.channels[index] ?? 0)) <= LIKE);
}
