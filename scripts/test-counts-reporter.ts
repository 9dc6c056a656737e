/** A reporter of node's test runner, for test.ts to read: one JSON object with the counts of the whole run. */
import type { EventData } from 'node:test';
import type { TestEvent } from 'node:test/reporters';

export type Counts = EventData.TestSummary['counts'];

export default async function* testCounts(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    // Each file has a summary too.
    if (event.type === 'test:summary' && event.data.file === undefined)
      yield JSON.stringify(event.data.counts satisfies Counts);
  }
}
