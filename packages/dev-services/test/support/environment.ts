/** Where tests start programs, and what these have of the machine. */
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export const ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
);

export const PATH_FOLDERS = (ENVIRONMENT['PATH'] ?? '').split(delimiter);

/** Programs that were copied or downloaded remain here for later runs. */
export const CACHE = process.env['TEST_CACHE_DIR'] || join(tmpdir(), 'dev-services-cache');

/** The same for root; the `postgres` user must reach it. */
export const ROOT_FOLDER = join(tmpdir(), 'dev-services-root');

/** Waits until `check` is true; the test's own assertion fails when it never is. */
export async function eventually(check: () => boolean | Promise<boolean>, ms = 60_000): Promise<boolean> {
  let pause = 5;
  for (const until = performance.now() + ms; performance.now() < until; ) {
    if (await check()) return true;
    pause = Math.min(100, pause * 1.3);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return false;
}
