/**
 * Formats numbers of a workbook as its reader sees them: fractions, currencies, conditions (ECMA-376 part 1, 18.8.30);
 * dates as ISO 8601.
 */
import { format, getFormatFromId, isDateFormat } from 'numfmt';

/** What a cell's style says about its number. */
export type CellFormat = string;

/** Dates of East Asian workbooks, whose format depends on the country. */
const isEastAsianDate = (id: number): boolean => (id >= 27 && id <= 36) || (id >= 50 && id <= 58);

/** Formats that every workbook has without declaring them. */
export function builtInFormat(id: number): CellFormat {
  return isEastAsianDate(id) ? 'yyyy-mm-dd' : (getFormatFromId(id) ?? 'General');
}

const DAY_MS = 86_400_000;
/** Day 0 of either system; 1900 has a 29 February there that never was. */
const EPOCH = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) } as const;
/** 31 December 9999. */
const MAX_DAYS = 2_958_465;

/** `value` is as in the file. A text that is no number, or has no known format, is shown unchanged. */
export function formattedNumber(value: string, pattern: CellFormat, is1904: boolean): string {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) return value;
  const plain = Number(number.toPrecision(15));
  try {
    if (isDateFormat(pattern)) return dateWords(number, barePattern(pattern), is1904);
    // That format would omit digits that do not fit a narrow column.
    if (!/^general$/i.test(pattern)) return format(pattern, plain).replace(/\s+/g, ' ').trim();
  } catch {
    // It is no format.
  }
  return String(plain);
}

/** Removes quoted words, escaped signs, colours, conditions and widths, which say nothing about its kind. */
function barePattern(pattern: CellFormat): string {
  return (pattern.split(';')[0] ?? '')
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '');
}

/** ISO 8601, whatever order its reader's country has: `2024-02-29`, `2024-02-29 13:30`, `13:30:05`. */
function dateWords(days: number, pattern: string, is1904: boolean): string {
  if (days < 0 || days > MAX_DAYS) return String(days);
  if (/\[[hms]+\]/i.test(pattern)) return duration(days, pattern);
  const hasDate = /[dy]|m{3,}|^m+$/i.test(pattern);
  const hasTime = /[hs]/i.test(pattern);
  // Its first two months are a day off, which nobody has corrected.
  const shift = !is1904 && days < 60 ? 1 : 0;
  const at = new Date((is1904 ? EPOCH[1904] : EPOCH[1900]) + Math.round((days + shift) * 86_400) * 1000);
  const [date = '', time = ''] = at.toISOString().split('T');
  const clock = time.slice(0, /s/i.test(pattern) ? 8 : 5);
  if (!hasDate && hasTime) return clock;
  return hasTime ? `${date} ${clock}` : date;
}

function duration(days: number, pattern: string): string {
  const seconds = Math.round((days * DAY_MS) / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  const words = [String(Math.floor(seconds / 3600)), two(Math.floor(seconds / 60) % 60)];
  return [...words, ...(/s/i.test(pattern) ? [two(seconds % 60)] : [])].join(':');
}
