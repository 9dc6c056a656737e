/**
 * Text for a terminal. What models, tools and other people wrote is shown without control characters, so that it can
 * neither move the cursor nor imitate the command line's own words (above all an approval).
 */
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'fast-string-width';

/** Matches C0 except tab and newline, DEL, C1, and the marks that reorder text (Trojan Source). */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Makes text of any origin safe to print; line breaks stay. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/\r\n?/g, '\n').replace(CONTROLS, '\ufffd');
}

/** Works as `printable`, in one line of at most `max` columns. */
export function oneLine(text: string, max = 200): string {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  if (columnsOf(line) <= max) return line;
  let kept = '';
  let columns = 0;
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    columns += columnsOf(segment);
    if (columns > max - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Columns that text takes on a terminal; its colours take none. */
export function columnsOf(text: string): number {
  return stringWidth(text);
}

/** Formats `< 1 ms`, `840 ms`, `12.3 s`, `4 min 5 s`, `3 h 12 min`. */
export function durationWords(milliseconds: number): string {
  if (Math.round(milliseconds) < 1) return '< 1 ms';
  if (Math.round(milliseconds) < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats `12.3 s ago` or `in 4 min 5 s`; empty if it is not a date. */
export function agoWords(iso: unknown, now: number): string {
  const at = typeof iso === 'string' ? Date.parse(iso) : Number.NaN;
  if (Number.isNaN(at)) return '';
  const distance = now - at;
  return distance >= 0 ? `${durationWords(distance)} ago` : `in ${durationWords(-distance)}`;
}
