/** A test that is run several times, because models do not always do the same. */
import { it } from 'node:test';

export interface EvaluateOptions {
  /** How often it is run, one after the other; 1 unless set. */
  readonly repeat?: number;
  /** How often it must pass; always unless set. */
  readonly passes?: number;
  /** Milliseconds that all runs together may take. */
  readonly timeout?: number;
}

/** Registers a test of node:test, which fails when `run` throws too often. */
export function evaluate(
  name: string,
  { repeat = 1, passes = repeat, timeout = 900_000 }: EvaluateOptions,
  run: (attempt: number) => Promise<void>,
): void {
  if (!Number.isInteger(repeat) || repeat < 1) throw new Error(`${name}: repeat must be 1 or more`);
  if (!Number.isInteger(passes) || passes < 1 || passes > repeat)
    throw new Error(`${name}: passes must be from 1 to repeat`);
  void it(name, { timeout }, async () => {
    const failures: string[] = [];
    for (let attempt = 1; attempt <= repeat; attempt++) {
      try {
        await run(attempt);
      } catch (error) {
        // A single run that fails is reported as it is.
        if (repeat === 1) throw error;
        failures.push(`${attempt}: ${error instanceof Error ? error.message : String(error)}`);
        if (failures.length > repeat - passes) break;
      }
    }
    if (failures.length > repeat - passes)
      throw new Error(
        `${failures.length} runs failed; ${passes} of ${repeat} must pass\n${failures.join('\n')}`,
      );
  });
}
