/** Seeded randomness, with which a failed run can be repeated; the seed is printed. */

export interface Chance {
  readonly seed: number;
  /** A whole number from `from` to `to`, inclusive. */
  between(from: number, to: number): number;
}

/** mulberry32: small, and even enough to choose moments. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { seed, between: (from, to) => from + Math.floor(next() * (to - from + 1)) };
}

/** The seed of this run: `TEST_SEED` to repeat one, else a new one. */
export function seedOfRun(): number {
  const value = Number(process.env['TEST_SEED'] ?? '');
  return value > 0 ? value : Date.now() % 2_147_483_647;
}
