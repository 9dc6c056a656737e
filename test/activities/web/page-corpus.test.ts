/** R1, TL web_fetch: of pages of every kind a model reads what people see, and nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageText } from '#activities/web/page-text.ts';
import { markOutside } from '#domain/outside-text.ts';
import type { PageCase } from './page-case.ts';
import { PAGES } from './page-corpus.ts';

/** Why the page is not read as it should be. */
async function problemOf({
  type = 'text/html',
  body,
  mode = 'markdown',
  has,
  lacks = [],
}: PageCase): Promise<string[]> {
  const answer = {
    url: 'https://pub.example/d/',
    type: type.split(';')[0]?.trim() ?? '',
    contentType: type,
    bytes: Buffer.from(body as never),
  };
  const { text, notes } = await pageText(answer, mode, AbortSignal.timeout(120_000));
  const shown = markOutside({ id: 'x', source: 'pub', text: `${text}\n${notes.join('; ')}` });
  let from = 0;
  const missing = has.filter((wanted) => {
    const at =
      typeof wanted === 'string' ? shown.indexOf(wanted, from) : shown.slice(from).search(wanted) + from;
    if (at < from) return true;
    from = at;
    return false;
  });
  const leaked = lacks.filter((unwanted) =>
    typeof unwanted === 'string' ? shown.includes(unwanted) : unwanted.test(shown),
  );
  return [
    ...missing.map((one) => `lacks ${one}`),
    ...leaked.map((one) => `leaks ${JSON.stringify(String(one))}`),
  ].map((why) => `${why}: ${JSON.stringify(shown.slice(0, 400))}`);
}

test('R1 TL each page of the corpus is read as people see it', async () => {
  assert.ok(PAGES.length >= 120);
  const failed: string[] = [];
  for (const page of PAGES) for (const why of await problemOf(page)) failed.push(`${page.name}: ${why}`);
  assert.deepEqual(failed, []);
});
