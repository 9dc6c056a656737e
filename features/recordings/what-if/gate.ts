/** The limits of `--fail-when`, and whether a what-if keeps them. */
import { usageError } from '#cli/cli-error.ts';
import { type FigureLimit, isOver, type Measured, readLimits } from '#domain/figure-limits.ts';
import type { WhatIf } from '../schema.ts';
import type { WhatIfReport } from './run.ts';

const FIGURES = [
  'changed',
  'failed',
  'calls',
  'approvals',
  'denied',
  'not_recorded',
  'steps',
  'tokens',
  'cost',
] as const;
type Figure = (typeof FIGURES)[number];

/** Without a call of a model there is none of these. */
const OF_MODELS: ReadonlySet<string> = new Set(['tokens', 'cost']);
/** Of these a share says something. */
const WITH_WHOLE: ReadonlySet<string> = new Set(['changed', 'failed', 'approvals', 'denied', 'not_recorded']);

export interface Check {
  readonly limit: string;
  readonly now: number | null;
  readonly before: number | null;
  /** Null when it is not known, which counts as exceeded. */
  readonly exceeded: boolean | null;
}

/** @throws CliError for a limit that cannot be measured */
export function readGate(text: string, models: WhatIf['models']): readonly FigureLimit[] {
  const limits = read(text);
  for (const { figure, kind, text: limit } of limits) {
    if (models === 'recorded' && OF_MODELS.has(figure))
      throw usageError(`${limit}: no model is called for this change, so it uses nothing.`, 'Add --live.');
    if (kind === 'share' && !WITH_WHOLE.has(figure))
      throw usageError(`${limit}: ${figure} is no part of a whole.`, `Write ${limit.replace('>', '>+')}.`);
  }
  return limits;
}

function read(text: string): readonly FigureLimit[] {
  try {
    return readLimits(text, FIGURES);
  } catch (error) {
    throw usageError(`--fail-when: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function checkLimits(limits: readonly FigureLimit[], report: WhatIfReport): readonly Check[] {
  return limits.map((limit) => {
    const { now, before, whole } = measured(limit.figure as Figure, report);
    const isKnown = now !== null;
    const over = isKnown ? isOver(limit, { now, before, ...(whole !== undefined && { whole }) }) : undefined;
    return { limit: limit.text, now, before, exceeded: over ?? null };
  });
}

function measured(
  figure: Figure,
  { before, after, changed, sessions }: WhatIfReport,
): Omit<Measured, 'now' | 'before'> & { readonly now: number | null; readonly before: number | null } {
  if (figure === 'changed') return { now: changed, before: 0, whole: sessions.length };
  const both = { now: after[figure], before: before[figure] };
  if (figure === 'failed') return { ...both, whole: after.turns };
  return WITH_WHOLE.has(figure) ? { ...both, whole: after.calls } : both;
}

/** The words of a check for people. */
export function checkWords({ limit, now, before, exceeded }: Check): string {
  const was = before === null ? '' : `, was ${shown(before)}`;
  const is = now === null ? 'is not known' : `is ${shown(now)}`;
  const why = exceeded === null && now !== null ? ', but what it is compared with is not known' : '';
  return `${limit}: ${is}${was}${why}`;
}

function shown(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(4);
}
