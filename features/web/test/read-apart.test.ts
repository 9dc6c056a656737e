/** F12, F14: a page that is built to hang, fill or crash its reader ends the reading, not the worker. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { type Answered, type PageMode, pageText } from '../pages/page-text.ts';
import { readApart } from '../pages/read-apart.ts';

const URL_OF_IT = 'https://pub.example/a';
const signal = new AbortController().signal;

function answered(html: string): Answered {
  return { url: URL_OF_IT, type: 'text/html', contentType: 'text/html', bytes: Buffer.from(html) };
}

async function read(html: string, mode: PageMode = 'markdown'): Promise<{ text: string; notes: string }> {
  const { text, notes } = await pageText(answered(html), mode, signal);
  return { text, notes: notes.join('; ') };
}

describe('F12 hostile pages', () => {
  test('240 kB of an article are read whole as Markdown', async () => {
    const part = (index: number): string =>
      `<p>Paragraph ${index} with a <a href="/l${index}">link ${index}</a> and <b>bold</b> words, long enough to count as a text.</p>`;
    let html = '';
    for (let index = 0; html.length < 240_000; index += 1) html += part(index);
    const { text, notes } = await read(`<html><body><article><h1>Long</h1>${html}</article></body></html>`);
    assert.equal(notes, '');
    assert.match(text, /\[link 1500\]\(https:\/\/pub\.example\/l1500\) and \*\*bold\*\*/);
  });

  test('too many elements are read as text', async () => {
    const { text, notes } = await read(
      `<html><body><p>first</p>${'<i>x</i>'.repeat(60_000)}<p>last</p></body></html>`,
    );
    assert.match(text, /^first\nx+\s*last$/);
    assert.match(notes, /^read as text: it has too many elements$/);
  });

  test('what is nested beyond measure is given up with words for the model, and its readers end alone', async () => {
    const { text, notes } = await read('<div>'.repeat(150_000));
    assert.equal(text, '');
    assert.match(notes, /^the page cannot be read \(.+\); mode html gives it as it came$/);
    assert.equal((await read('<html><body><p>still here</p></body></html>')).text, 'still here');
  });

  test('a PDF that is small and grows beyond measure ends its reader alone', async () => {
    const stream = deflateSync(Buffer.alloc(600 * 1024 * 1024, ' '));
    const head =
      '%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>\nendobj\n';
    const start = `4 0 obj\n<< /Length ${stream.length} /Filter /FlateDecode >>\nstream\n`;
    const end = '\nendstream\nendobj\ntrailer\n<< /Size 5 /Root 1 0 R >>\n%%EOF';
    const bytes = Buffer.concat([Buffer.from(head + start), stream, Buffer.from(end)]);
    await assert.rejects(
      readApart({ how: 'pdf', bytes }, signal),
      /it (?:takes too much memory|cannot be read within)/,
    );
  });

  test('a stop ends the reading at once, and those that wait for their turn', async () => {
    const stop = new AbortController();
    const html = `<html><body>${'<p>a</p>'.repeat(200_000)}</body></html>`;
    const readings = Array.from({ length: 4 }, () =>
      readApart({ how: 'article', html, url: URL_OF_IT }, stop.signal),
    );
    stop.abort(new Error('stopped'));
    for (const result of await Promise.allSettled(readings))
      assert.equal(result.status === 'rejected' && String(result.reason), 'Error: stopped');
    assert.equal((await read('<html><body><p>still here</p></body></html>', 'text')).text, 'still here');
  });
});
