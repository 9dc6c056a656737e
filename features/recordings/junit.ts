/** Results of tests as JUnit's XML, which CI systems read. */

export interface TestResult {
  readonly name: string;
  /** Seconds. */
  readonly seconds: number;
  /** Undefined when it passed. */
  readonly failure?: string | undefined;
}

export function junitOf(suite: string, results: readonly TestResult[]): string {
  const failures = results.filter(({ failure }) => failure !== undefined).length;
  const seconds = results.reduce((sum, one) => sum + one.seconds, 0);
  const counts = `tests="${results.length}" failures="${failures}" time="${seconds.toFixed(3)}"`;
  const cases = results.map(({ name, seconds: time, failure }) => {
    const start = `    <testcase name="${escaped(name)}" classname="${escaped(suite)}" time="${time.toFixed(3)}"`;
    if (failure === undefined) return `${start}/>`;
    const [line = ''] = failure.split('\n');
    return `${start}>\n      <failure message="${escaped(line)}">${escaped(failure)}</failure>\n    </testcase>`;
  });
  const lines = [`<testsuites ${counts}>`, `  <testsuite name="${escaped(suite)}" ${counts}>`, ...cases];
  return `<?xml version="1.0" encoding="UTF-8"?>\n${lines.join('\n')}\n  </testsuite>\n</testsuites>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\n': '&#10;',
};

/** XML 1.0 has no place for control characters, however they are written. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"'\n]/g, (char) => ENTITIES[char] ?? char);
}
