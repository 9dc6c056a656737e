/** One scrubbed line of a text, for places without space for the whole. */
import { NO_VALUES, type RegisteredValues } from './registered-values.ts';
import { scrubText } from './scrub-text.ts';

export interface PreviewLimits {
  /** Greatest number of characters (code points); default 200. */
  readonly chars?: number;
  /** Greatest number of bytes of UTF-8; unlimited by default. */
  readonly bytes?: number;
}

const DEFAULT_CHARS = 200;
/** The scrubber reads this far past the cut, so that a secret at the edge is recognized before it is cut. */
const MARGIN = 8_192;
const ELLIPSIS = '…';

/**
 * Control characters, line ends and runs of blanks become one blank; invisible marks and direction changes are removed.
 */
export function preview(
  text: string,
  limits: PreviewLimits = {},
  registered: RegisteredValues = NO_VALUES,
): string {
  const chars = limits.chars ?? DEFAULT_CHARS;
  const bytes = limits.bytes ?? Number.POSITIVE_INFINITY;
  const head = text.slice(0, chars * 4 + MARGIN + registered.longest);
  const line = scrubText(head, registered)
    .text.replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]/g, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return cut(line, chars, bytes, head.length < text.length);
}

function cut(line: string, chars: number, bytes: number, isPart: boolean): string {
  const points = [...line];
  const fits = points.length <= chars && Buffer.byteLength(line) <= bytes;
  if (fits && !isPart) return line;
  let remaining = bytes - 3;
  let out = '';
  let taken = 0;
  for (const point of points) {
    const size = Buffer.byteLength(point);
    if (taken >= chars - 1 || size > remaining) break;
    out += point;
    taken++;
    remaining -= size;
  }
  return chars < 1 || bytes < 3 ? '' : `${out.trimEnd()}${ELLIPSIS}`;
}
