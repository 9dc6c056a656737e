/** Times that models ask for, in the limits of the work. */

/** Whole seconds of at most `max`; undefined for less than one, which asks for the default. */
export function wholeSeconds(requested: number | undefined, max: number): number | undefined {
  if (requested === undefined || !Number.isFinite(requested) || requested < 1) return undefined;
  return Math.min(Math.trunc(requested), max);
}
