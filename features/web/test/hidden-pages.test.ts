/**
 * R1: what a page hides from people, in the ways that HTML and CSS support, does not reach a model; what only looks
 * hidden does.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHtml } from '../pages/read-html.ts';
import { HIDDEN, SEEN } from './hidden-pages.ts';
import { type PageCase, problemsIn } from './page-case.ts';

async function problemsOf(pages: readonly PageCase[]): Promise<readonly string[]> {
  const failed: string[] = [];
  // They need no process each, because these pages are small.
  for (const page of pages)
    for (const how of ['article', 'simple', 'text'] as const) {
      const shown = await readHtml(how, String(page.body), 'https://pub.example/d/');
      for (const why of problemsIn(shown, page)) failed.push(`${page.name}, ${how}: ${why}`);
    }
  return failed;
}

test('R1 nothing that a page hides is read', async () => {
  assert.deepEqual(await problemsOf(HIDDEN), []);
});

test('R1 what only resembles a hidden text is read', async () => {
  assert.deepEqual(await problemsOf(SEEN), []);
});
