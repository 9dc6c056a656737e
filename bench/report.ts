/** Reports what a measurement found, as tables for people and numbers for programs. */

export interface Goal {
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  /** `max` means that the value must not exceed the limit. */
  readonly kind: 'max' | 'min';
}

export interface Section {
  readonly name: string;
  readonly title: string;
  /** How it was measured, in a sentence or two. */
  readonly how: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly goals: readonly Goal[];
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Needs at least one number. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1] ?? 0, sorted[middle] ?? 0];
  return { median: (low + high) / 2, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

/** Compares pairs of one round each. A ratio cancels what else the machine did then; two medians do not. */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): Spread {
  return spreadOf(ours.map((value, index) => value / (theirs[index] ?? Number.NaN)));
}

/** The 95th percentile. */
export function p95Of(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;
}

export function digits(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

/** Formats as `12.3 (11.0–15.1)`. */
export function shown({ median, min, max }: Spread): string {
  return `${digits(median)} (${digits(min)}–${digits(max)})`;
}

export function reached({ value, limit, kind }: Goal): boolean {
  return kind === 'max' ? value <= limit : value >= limit;
}

export function sectionText(section: Section, level = 2): string {
  const goals = section.goals.map(
    (goal) =>
      `- ${reached(goal) ? 'reached' : '**missed**'}: ${goal.what} ${digits(goal.value)}, to be ${goal.kind === 'max' ? 'at most' : 'at least'} ${goal.limit}`,
  );
  return [
    `${'#'.repeat(level)} ${section.title}`,
    '',
    section.how,
    '',
    line(section.columns),
    line(section.columns.map((_, index) => (index === 0 ? '---' : '---:'))),
    ...section.rows.map(line),
    ...(goals.length > 0 ? ['', ...goals] : []),
    '',
  ].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
