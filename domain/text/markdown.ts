/**
 * Text from outside within the Markdown that Temporal's web UI renders: it must not become a heading, a link or an
 * image.
 */

/** Plain text on one line. */
export function markdownText(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>]/g, String.raw`\$&`);
}

/** Code on one line, in a fence longer than any run of backticks in it. */
export function markdownCode(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 ? ' ' : '';
  return `${fence}${space}${line}${space}${fence}`;
}
