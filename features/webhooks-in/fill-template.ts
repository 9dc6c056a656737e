/**
 * Fills `{{path.to.field}}` in a text with the call's values. It supports nothing else: no conditions, no loops, no
 * expressions.
 */
import { fieldOf, isRecord } from '#domain/outside-value.ts';

/** UTF-16 units of all values together; a message has its own limit. */
const MAX = 12_000;
const PLACES = 50;

/** A missing value is empty. `show` formats text from the call within ours; numbers and booleans appear as they are. */
export function fillTemplate(
  template: string,
  data: unknown,
  show: (words: string, place: number) => string,
): string {
  let remaining = MAX;
  let place = 0;
  return template.replaceAll(/\{\{\s*([\w.$@-]{1,200})\s*\}\}/g, (_, path: string) => {
    const value = fieldAt(data, path);
    if (value === undefined || value === null || place >= PLACES) return '';
    place += 1;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    const words = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\0', '');
    const cut =
      words.length > remaining ? `${words.slice(0, remaining).toWellFormed()}…` : words.toWellFormed();
    remaining = Math.max(0, remaining - words.length);
    return show(cut, place);
  });
}

/** Reads own fields of objects and places of lists; `.` is the whole. */
export function fieldAt(data: unknown, path: string): unknown {
  let value = data;
  for (const name of path.split('.').filter((part) => part !== ''))
    if (Array.isArray(value)) value = /^\d{1,6}$/.test(name) ? value[Number(name)] : undefined;
    else value = isRecord(value) ? fieldOf(value, name) : undefined;
  return value;
}
