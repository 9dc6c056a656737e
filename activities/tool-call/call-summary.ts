/** A call in one line, as people see it everywhere. */
import type { Catalog } from '#policy/catalog.ts';
import type { Tool } from '#policy/define-tool.ts';
import { storableText } from '#domain/storable-text.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';

/** Characters: one line in the web UI. */
const SUMMARY = 120;

/** `exec: npm test`, the line that people see of a call everywhere. */
export function callSummary(
  deps: { readonly catalog: Pick<Catalog, 'summaryOf'>; readonly scrubber: Pick<Scrubber, 'preview'> },
  tool: Tool,
  input: unknown,
): string {
  const words = storableText(deps.catalog.summaryOf(tool, input));
  return deps.scrubber.preview(words === '' ? tool.name : `${tool.name}: ${words}`, SUMMARY);
}
