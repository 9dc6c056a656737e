/**
 * A reporter of node's test runner, which test.ts reads: one JSON object with the counts of the whole run, its slowest
 * files, and those without a test in their suite.
 */
import type { EventData } from 'node:test';
import type { TestEvent } from 'node:test/reporters';

export interface Outcome {
  readonly counts: EventData.TestSummary['counts'];
  /** The slowest come first. */
  readonly slowest: readonly { readonly file: string; readonly seconds: number }[];
  /** Files without a test in their suite: those of an asynchronous `describe` run apart from it, without its hooks. */
  readonly empty: readonly string[];
}

const SHOWN = 15;

export default async function* testOutcome(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: (Outcome['slowest'][number] & { readonly isEmpty: boolean })[] = [];
  /** Whether no test has ended since the last file. */
  let isEmpty = true;
  for await (const event of source) {
    if (event.type === 'test:pass' || event.type === 'test:fail') {
      const { details, name: file, nesting, skip } = event.data;
      const isTest = details.type !== 'suite' || skip !== undefined;
      // Each file is a suite, which also has a name (test.ts).
      if (nesting === 0)
        files.push({ file, seconds: details.duration_ms / 1000, isEmpty: isEmpty && !isTest });
      isEmpty = nesting === 0 || (isEmpty && !isTest);
    }
    // Each process has a summary too.
    if (event.type === 'test:summary' && event.data.file === undefined) {
      const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, SHOWN);
      const empty = files.filter((one) => one.isEmpty).map(({ file }) => file);
      yield JSON.stringify({ counts: event.data.counts, slowest, empty } satisfies Outcome);
    }
  }
}
