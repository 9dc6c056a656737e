/**
 * Limits on figures, as people write them: `failed>5%`, or several with `or` between them. They put a rollout back by
 * itself, and make a what-if fail.
 */

/**
 * `count`: above a number. `share`: above a percentage of the whole. `rise`: more than before by a number. `riseShare`:
 * more than before by a percentage.
 */
export type LimitKind = 'count' | 'share' | 'rise' | 'riseShare';

export interface FigureLimit {
  readonly figure: string;
  readonly kind: LimitKind;
  readonly over: number;
  /** As it was written, without spaces. */
  readonly text: string;
}

/** A figure as it is. `before` is null when it is not known; `whole` is absent for a figure that has none. */
export interface Measured {
  readonly now: number;
  readonly before?: number | null;
  readonly whole?: number;
}

/** Sums of money are binary fractions: an equal amount must not be above. */
const EXACT = 1 + 1e-9;
/** More than anybody needs. */
const MAX_LIMITS = 20;
const LIMIT = /^([a-z_]{1,40})>(\+?)(\d{1,9}(?:\.\d{1,6})?)(%?)$/;

/** @throws Error that says which part is wrong and what is allowed */
export function readLimits(text: string, figures: readonly string[]): readonly FigureLimit[] {
  const parts = text.split(/\s+or\s+/, MAX_LIMITS + 1);
  if (parts.length > MAX_LIMITS) throw new Error(`at most ${MAX_LIMITS} limits`);
  return parts.map((part) => readLimit(part.trim(), figures));
}

function readLimit(written: string, figures: readonly string[]): FigureLimit {
  const text = written.replaceAll(/\s+/g, '');
  const [, figure = '', rise, over, percent] = LIMIT.exec(text) ?? [];
  if (!figures.includes(figure))
    throw new Error(
      `"${written}" is no limit: write FIGURE>N, FIGURE>N%, FIGURE>+N or FIGURE>+N%, or several with "or" between them; FIGURE is ${figures.join(', ')}`,
    );
  const kind = rise ? (percent ? 'riseShare' : 'rise') : percent ? 'share' : 'count';
  return { figure, kind, over: Number(over), text };
}

/** Undefined when it cannot be known. A share of nothing is not above any limit; a rise from nothing is above all. */
export function isOver({ kind, over }: FigureLimit, { now, before, whole }: Measured): boolean | undefined {
  if (kind === 'count') return now > over;
  if (kind === 'share') return whole === undefined ? undefined : now * 100 > over * whole;
  if (before === undefined || before === null) return undefined;
  return kind === 'rise' ? now - before > over : now * 100 > before * (100 + over) * EXACT;
}
