/** HTML allows a page to omit its `<html>`, `<head>` and `<body>`; people still see all of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHtml } from '../pages/read-html.ts';

const PAGES: Readonly<Record<string, string>> = {
  'no head': '<html><title>Otters</title><body><h1>Tools</h1><p>Kelp</p></body></html>',
  'no body': '<!doctype html><html><head><title>Otters</title></head><h1>Tools</h1><p>Kelp</p></html>',
  'nothing around it': '<!doctype html><title>Otters</title><h1>Tools</h1><p>Kelp',
  'something after the body': '<html><title>Otters</title><body><h1>Tools</h1></body><p>Kelp</p></html>',
  'two bodies': '<html><body><title>Otters</title><h1>Tools</h1></body><body><p>Kelp</p></body></html>',
};

test('TL a page that leaves parts out is read whole, its title first, in every mode', async () => {
  for (const [name, html] of Object.entries(PAGES))
    for (const how of ['article', 'simple', 'text'] as const) {
      const text = await readHtml(how, html, 'https://pub.example/a');
      assert.match(text, /Otters[^]*Tools[^]*Kelp/, `${name}, ${how}: ${text}`);
    }
});

test('TL a page whose only title is its first heading keeps that', async () => {
  const html = '<h1>Otters</h1><p>Kelp</p>';
  const text = await readHtml('article', html, 'https://pub.example/a');
  assert.equal(text, '# Otters\n\nKelp');
});
