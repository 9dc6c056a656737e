/** A reporter of node's test runner, for test.ts to read: one line of JSON for each file and one, without a file, for all. */
import type { EventData } from 'node:test';
import type { TestEvent } from 'node:test/reporters';

export type Outcome = Pick<EventData.TestSummary, 'file' | 'success' | 'counts'>;

export default async function* testOutcome(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type !== 'test:summary') continue;
    const { file, success, counts } = event.data;
    yield `${JSON.stringify({ file, success, counts } satisfies Outcome)}\n`;
  }
}
