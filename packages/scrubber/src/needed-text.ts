/**
 * A cheap no before an expensive look: which of the hundred literals that the detectors begin with are in a text at all.
 * One reading of the text tells it of all of them.
 */
import { type FormIndex, indexForms } from './form-index.ts';

export interface Needed {
  readonly text: string;
  /** Number of the newest reading of a text that had it. */
  seen: number;
}

const ALL: Needed[] = [];
let index: FormIndex<Needed> | undefined;
let reading = 0;

/** To be made once a literal, when the detectors are. */
export function neededText(text: string): Needed {
  const need = { text, seen: 0 };
  ALL.push(need);
  return need;
}

/** Reads `text`, for the calls of `hasAny` that follow. */
export function readText(text: string): void {
  index ??= indexForms(ALL);
  reading++;
  index.find(text, (need) => {
    need.seen = reading;
  });
}

/** Whether one of `needs` is in the text that `readText` has read last. */
export function hasAny(needs: readonly Needed[]): boolean {
  return needs.some(({ seen }) => seen === reading);
}
