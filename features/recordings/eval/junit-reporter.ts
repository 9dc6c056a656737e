/** Results of evals for CI systems; that of Node writes quotes twice escaped. */
import type { TestEvent } from 'node:test/reporters';
import { junitOf, type TestResult } from '../junit.ts';
import { resultsOf } from './results.ts';

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const results: TestResult[] = [];
  for await (const { name, seconds, error } of resultsOf(events))
    results.push({ name, seconds, failure: error ?? undefined });
  yield junitOf('tempoclaw eval', results);
}
