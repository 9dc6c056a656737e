/**
 * A cheap check before an expensive search: which of the detectors' hundred literals occur in a text. One pass over the
 * text determines all of them.
 */
import { type FormIndex, indexForms } from './form-index.ts';

export interface Needed {
  readonly text: string;
  /** Number of the last pass over a text that contained it. */
  seen: number;
}

const ALL: Needed[] = [];
let index: FormIndex<Needed> | undefined;
let reading = 0;

/** Created once per literal, together with the detectors. */
export function neededText(text: string): Needed {
  const need = { text, seen: 0 };
  ALL.push(need);
  return need;
}

/** Reads `text` for the following calls of `hasAny`. */
export function readText(text: string): void {
  index ??= indexForms(ALL);
  reading++;
  index.find(text, (need) => {
    need.seen = reading;
  });
}

/** Whether one of `needs` occurs in the text that `readText` has read last. */
export function hasAny(needs: readonly Needed[]): boolean {
  return needs.some(({ seen }) => seen === reading);
}
