/** R1: of pages of every kind, a model reads what people see, and nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageText } from '../pages/page-text.ts';
import { type Reading, ReadingProblem } from '../pages/read-apart.ts';
import { readHtml } from '../pages/read-html.ts';
import { markOutside } from '#domain/text/outside-text.ts';
import { type PageCase, problemsIn } from './page-case.ts';
import { PAGES } from './page-corpus.ts';

/** Why the page is not read as it should be. */
async function problemOf({
  type = 'text/html',
  body,
  mode = 'markdown',
  has,
  lacks = [],
}: PageCase): Promise<readonly string[]> {
  const answer = {
    url: 'https://pub.example/d/',
    type: type.split(';')[0]?.trim() ?? '',
    contentType: type,
    bytes: Buffer.from(body as never),
  };
  const { text, notes } = await pageText(answer, mode, AbortSignal.timeout(120_000), readHere);
  const shown = markOutside({ id: 'x', source: 'pub', text: `${text}\n${notes.join('; ')}` });
  return problemsIn(shown, { has, lacks });
}

/** Reads without a process, because these pages are small. read-apart.test.ts tests the others. */
async function readHere(job: Reading): Promise<string> {
  if (!('html' in job) || job.how === 'duckduckgo') throw new ReadingProblem(`no page: ${job.how}`);
  return readHtml(job.how, job.html, job.url);
}

test('R1 TL each page of the corpus is read as people see it', async () => {
  const failed: string[] = [];
  for (const page of PAGES) for (const why of await problemOf(page)) failed.push(`${page.name}: ${why}`);
  assert.deepEqual(failed, []);
});
