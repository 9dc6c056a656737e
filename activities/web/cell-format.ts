/** Numbers of a workbook as its reader sees them: dates, percentages, currencies (ECMA-376 part 1, 18.8.30). */

/** What a cell's style says of its number. */
export type CellFormat = string;

/** Those that every workbook has without writing them down; those of East Asian dates among them. */
const BUILT_IN: Readonly<Record<number, CellFormat>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  18: 'h:mm',
  19: 'h:mm:ss',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss',
};

export function builtInFormat(id: number): CellFormat {
  const isDate = (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
  return isDate ? 'yyyy-mm-dd' : (BUILT_IN[id] ?? 'General');
}

/** Its words in quotes, escaped signs, colours, conditions and widths say nothing of its kind. */
function barePattern(format: CellFormat): string {
  return format.replace(/"[^"]*"|\\.|_.|\*./g, '').replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '');
}

const DAY_MS = 86_400_000;
/** Day 0 of either system; 1900 has a 29 February there that never was. */
const EPOCH = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) } as const;
/** 31 December 9999. */
const MOST_DAYS = 2_958_465;

/** `value` is as the file has it; what is no number, or has no format that is known, is shown as it is. */
export function formattedNumber(value: string, format: CellFormat, is1904: boolean): string {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) return value;
  const [positive = '', negative] = format.split(';');
  const section = number < 0 && negative !== undefined && negative !== '' ? negative : positive;
  const bare = barePattern(section);
  if (/[dmyhs]/i.test(bare.replace(/General|E[+-]/gi, ''))) return dateWords(number, bare, is1904);
  if (bare.includes('%')) return `${fixed(number * 100, bare)}%`;
  const affix = affixesOf(section);
  if (!affix || !/^[#0?,]+(?:\.[#0?]+)?$/.test(affix.digits)) return plainNumber(number);
  const sign = number < 0 && section === positive ? '-' : '';
  return `${sign}${affix.before}${fixed(Math.abs(number), affix.digits)}${affix.behind}`;
}

/** As many digits as a workbook shows; more are only the error of its arithmetic. */
function plainNumber(number: number): string {
  return String(Number(number.toPrecision(15)));
}

function fixed(number: number, pattern: string): string {
  const places = (/\.([0#?]+)/.exec(pattern)?.[1] ?? '').length;
  const text = Number(number.toPrecision(15)).toFixed(Math.min(places, 15));
  return /[#0],[#0]/.test(pattern) ? text.replace(/^-?\d+/, (whole) => grouped(whole)) : text;
}

function grouped(whole: string): string {
  return whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** What is written before and behind the digits: a currency, a unit. Undefined where the pattern is of another form. */
function affixesOf(section: string) {
  const said = section
    .replace(/\[\$([^\]-]*)(?:-[^\]]*)?\]/g, (_, sign: string) => (sign === '' ? '' : `"${sign}"`))
    .replace(/\[[^\]]*\]|_.|\*./g, '');
  const found = /^((?:"[^"]*"|\\.|[^#0?"\\])*)([#0?,.]+)((?:"[^"]*"|\\.|[^#0?"\\])*)$/.exec(said);
  if (!found) return undefined;
  const [before, behind] = [found[1] ?? '', found[3] ?? ''].map((text) => text.replace(/["\\]/g, ''));
  return { before: before ?? '', digits: found[2] ?? '', behind: behind ?? '' };
}

/** ISO 8601, whatever order its reader's country has: `2024-02-29`, `2024-02-29 13:30`, `13:30:05`. */
function dateWords(days: number, pattern: string, is1904: boolean): string {
  if (days < 0 || days > MOST_DAYS) return plainNumber(days);
  if (/\[[hms]+\]/i.test(pattern)) return duration(days, pattern);
  const hasDate = /[dy]|m{3,}|^m+$/i.test(pattern);
  const hasTime = /[hs]/i.test(pattern);
  // Its first two months are a day off, as nobody mended it.
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
