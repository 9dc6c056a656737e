/** What a text is painted on, and whether it can be distinguished from that. */
import { areAlike, BLACK, type Colour, laidOver, readColour, WHITE } from './colour.ts';
import { type ComputedStyle, lettersOf } from './computed-style.ts';
import { pixelsOf } from './lengths.ts';
import { splitTokens } from './style-sheet.ts';
import { coloursOf, isFaint } from './unseen-box.ts';

/** What is behind an element: a colour, a picture with any colour, or an unknown part of the page. */
export type Ground = Colour | 'unknown';

/** The background of a dark scheme, as in browsers. */
const DARK: Colour = { channels: [18, 18, 18], alpha: 1 };

export interface Canvas {
  readonly ground: Ground;
  /** The colour of text without its own; undefined if another sheet may set one. */
  readonly text: Colour | undefined;
}

/** The background of the page as a whole, by the style of its root. */
export function canvasOf(root: ComputedStyle, isWhole: boolean): Canvas {
  if (!isWhole) return { ground: 'unknown', text: undefined };
  const isDark = /^(?:only\s+)?dark\b/.test(root.get('color-scheme') ?? '');
  return isDark ? { ground: DARK, text: WHITE } : { ground: WHITE, text: BLACK };
}

/**
 * The background of an element on `around`. `mayStandOnPicture` means that it overlaps others, of which some are
 * pictures.
 */
export function groundOf(style: ComputedStyle, around: Ground, mayStandOnPicture: boolean): Ground {
  const image = style.get('background-image') ?? 'none';
  const under = mayStandOnPicture ? 'unknown' : around;
  const colour = painted(readColour(style.get('background-color') ?? 'transparent'), under);
  if (image === 'none') return colour;
  if (/(?:url|image-set|element|cross-fade|paint)\(/.test(image)) return 'unknown';
  const [first, ...others] = coloursOf(image);
  if (!first) return 'unknown';
  return others.every((one) => areAlike(one, first) && one.alpha === first.alpha)
    ? painted(first, colour)
    : 'unknown';
}

function painted(colour: Colour | undefined, on: Ground): Ground {
  if (colour === undefined || colour.alpha === 0) return on;
  if (colour.alpha === 1) return colour;
  // It is so opaque that what is behind it does not matter.
  if (on === 'unknown') return colour.alpha >= 0.9 ? { ...colour, alpha: 1 } : on;
  return laidOver(colour, on);
}

export function isLaidOver(style: ComputedStyle): boolean {
  return /^(?:absolute|fixed|sticky)$/.test(style.get('position') ?? '');
}

/** Whether its letters are invisible on their background. */
export function isUnseenColour(style: ComputedStyle, ground: Ground, usual: Colour | undefined): boolean {
  // What is visible is the background, in the shape of the letters.
  if (style.get('background-clip') === 'text') return false;
  const fill = style.get('-webkit-text-fill-color');
  const written = fill === undefined || fill === 'currentcolor' ? style.get('color') : fill;
  const colour = written === undefined ? usual : readColour(written);
  if (!colour || !isLike(colour, ground)) return false;
  return !edges(style).some((edge) => !isLike(edge, ground));
}

function isLike(colour: Colour, ground: Ground): boolean {
  if (isFaint(colour.alpha)) return true;
  return ground !== 'unknown' && areAlike(laidOver(colour, ground), ground);
}

/** A more blurred shadow shows no letters. */
const SHARP = 10;

/** Colours of outlines and shadows of the letters. */
function edges(style: ComputedStyle): readonly Colour[] {
  const own = readColour(style.get('color') ?? '') ?? BLACK;
  const measure = { letters: lettersOf(style), whole: 0 };
  const stroke = pixelsOf(style.get('-webkit-text-stroke-width') ?? '0', measure) ?? 0;
  const strokes = stroke > 0 ? [readColour(style.get('-webkit-text-stroke-color') ?? '') ?? own] : [];
  const shadows = (style.get('text-shadow') ?? 'none').split(/,(?![^(]*\))/).flatMap((shadow) => {
    const words = splitTokens(shadow);
    const lengths = words.map((word) => pixelsOf(word, measure)).filter((length) => length !== undefined);
    if (lengths.length < 2 || (lengths[2] ?? 0) > SHARP) return [];
    return [words.map(readColour).find((colour) => colour !== undefined) ?? own];
  });
  return [...strokes, ...shadows];
}
