/** R1: what a browser shows of a page reaches a model, whatever styles, sheets and elements say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHtml } from '../pages/read-html.ts';
import { sightCases } from './sight-cases.ts';

test('R1 a page is read as a browser shows it', async () => {
  const wrong: string[] = [];
  for (const { name, html, isSeen } of sightCases())
    for (const how of ['article', 'simple', 'text'] as const) {
      const text = await readHtml(how, html, 'https://pub.example/d/');
      if (text.includes('WORDS') !== isSeen) wrong.push(`${name}, ${how}`);
      if (!/SEEN1 words\s+[^]*SEEN2 words/.test(text))
        wrong.push(`${name}, ${how}: lacks what stands around`);
    }
  assert.deepEqual(wrong, []);
});
