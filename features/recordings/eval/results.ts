/** The results of a run of node:test, without its suites. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

export interface EvalResult {
  readonly name: string;
  readonly file: string | null;
  readonly seconds: number;
  /** Null when it passed. */
  readonly error: string | null;
}

export async function* resultsOf(events: AsyncIterable<TestEvent>): AsyncGenerator<EvalResult> {
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { name, file, details } = event.data;
    // A file without a matching test passes under its own name.
    const isFile = event.type === 'test:pass' && name === file;
    if (details.type === 'suite' || isFile) continue;
    yield {
      name,
      file: file === undefined ? null : relative(process.cwd(), file),
      seconds: details.duration_ms / 1000,
      error: event.type === 'test:fail' ? errorText(event.data.details.error) : null,
    };
  }
}

function errorText({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : String(cause ?? message);
}
