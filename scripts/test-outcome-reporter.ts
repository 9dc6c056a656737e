/**
 * A reporter of node's test runner, which test.ts reads: one JSON object with the counts of the whole run and its
 * slowest files.
 */
import type { EventData } from 'node:test';
import type { TestEvent } from 'node:test/reporters';

export interface Outcome {
  readonly counts: EventData.TestSummary['counts'];
  /** The slowest come first. */
  readonly slowest: readonly { readonly file: string; readonly seconds: number }[];
}

const SHOWN = 15;

export default async function* testOutcome(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: Outcome['slowest'][number][] = [];
  for await (const event of source) {
    // Each file is a suite, which also has a name (test.ts).
    if ((event.type === 'test:pass' || event.type === 'test:fail') && event.data.nesting === 0)
      files.push({ file: event.data.name, seconds: event.data.details.duration_ms / 1000 });
    // Each process has a summary too.
    if (event.type === 'test:summary' && event.data.file === undefined) {
      const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, SHOWN);
      yield JSON.stringify({ counts: event.data.counts, slowest } satisfies Outcome);
    }
  }
}
