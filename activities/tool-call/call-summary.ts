/** A call in one line, as people see it everywhere. */
import type { Catalog, ParsedCall } from '#policy/catalog.ts';
import { storableText } from '#domain/text/storable-text.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';

/** Characters: one line in the web UI. */
const SUMMARY = 120;

/** `exec: npm test`, the line that people see of a call everywhere. */
export function callSummary(
  scrubber: Pick<Scrubber, 'preview'>,
  catalog: Pick<Catalog, 'summaryOf'>,
  { tool, input }: Pick<ParsedCall, 'tool' | 'input'>,
): string {
  const words = storableText(catalog.summaryOf(tool, input));
  return scrubber.preview(words === '' ? tool.name : `${tool.name}: ${words}`, SUMMARY);
}
