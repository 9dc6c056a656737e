/** Results of evals for programs: one JSON object a line. */
import type { TestEvent } from 'node:test/reporters';
import { resultsOf } from './results.ts';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const result of resultsOf(events))
    yield `${JSON.stringify({ ...result, passed: result.error === null })}\n`;
}
