/**
 * Whether a sheet's conditions on screen and browser hold for a usual visitor (Media Queries 4, Conditional Rules 3).
 */
import { lexer } from 'css-tree';

/** CSS pixels of a usual screen. */
export const SCREEN = { width: 1_280, height: 800 };

/** Preferences of a visitor who has set nothing. */
const USUAL =
  /^(?:(?:only\s+)?(?:all|screen)|\(\s*(?:orientation\s*:\s*landscape|prefers-color-scheme\s*:\s*light|prefers-reduced-motion\s*:\s*no-preference|(?:any-)?hover\s*:\s*hover|(?:any-)?pointer\s*:\s*fine)\s*\))$/i;
const BOUND =
  /^\(\s*(?:(min|max)-(?:(?:inline|block)-)?(width|height|size)\s*:|(width|height|(?:inline|block)-size)\s*([<>])=?)\s*(\d+(?:\.\d+)?)(px|r?em)\s*\)$/i;

/** Other conditions do not affect the page as it is delivered. */
export function isForScreens(media: string): boolean {
  return media.split(',').some((query) => {
    if (/^\s*not\s+(?:print|speech)\b/i.test(query)) return true;
    return query.split(/\band\b/i).every((part) => {
      const [, bound, side, other, sign, size, unit] = BOUND.exec(part.trim()) ?? [];
      if (size === undefined) return USUAL.test(part.trim());
      const pixels = Number(size) * (unit === 'px' ? 1 : 16);
      const have = /height|block/.test(`${side ?? other}`) ? SCREEN.height : SCREEN.width;
      return bound === 'min' || sign === '>' ? pixels <= have : pixels >= have;
    });
  });
}

/**
 * Matches one property and value. All other conditions count as supported, because browsers support more than the
 * pages' authors expected.
 */
const ONE_PROPERTY = /^(not\s+)?\(\s*([\w-]+)\s*:\s*([^()]+(?:\([^()]*\))?)\s*\)$/i;

export function isSupported(condition: string): boolean {
  const [, not, property, value] = ONE_PROPERTY.exec(condition.trim()) ?? [];
  if (property === undefined || value === undefined) return !/^not\b/i.test(condition.trim());
  const isKnown = property.startsWith('--') || isValid(property, value);
  return not === undefined ? isKnown : !isKnown;
}

const known = new Map<string, boolean>();
const MAX_KNOWN = 20_000;

/** Whether a browser accepts the value. */
export function isValid(property: string, value: string): boolean {
  const key = `${property}:${value}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const { error } = lexer.matchProperty(property, value);
  // An unknown property may be a newer one.
  const valid = error === null || error.name === 'SyntaxReferenceError';
  if (known.size < MAX_KNOWN) known.set(key, valid);
  return valid;
}
