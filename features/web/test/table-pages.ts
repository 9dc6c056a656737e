/** Tables of data, tables for layout, and articles that are not the whole page. */
import { doc, type PageCase } from './page-case.ts';

const page = (name: string, body: string, has: PageCase['has'], lacks: PageCase['lacks'] = []): PageCase => ({
  name: `table: ${name}`,
  body: doc(body),
  has,
  lacks,
});

const sentence = (word: string): string =>
  `<p>${word} says something of its own that is long enough to be a paragraph by itself, with more than a hundred letters in it, as people write them.</p>`;

export const TABLES: readonly PageCase[] = [
  page('of data', '<table><tr><th>SEEN1</th><th>b</th></tr><tr><td>SEEN2</td><td>d</td></tr></table>', [
    /\| SEEN1 \| b \|\n\| --- \| --- \|\n\| SEEN2 \| d \|/,
  ]),
  page('with a line in a cell', '<table><tr><td>a|b</td><td>SEEN1<br>SEEN2</td></tr></table>', [
    /\| a\\\|b \| SEEN1 +SEEN2 \|/,
  ]),
  page(
    'with a cell over two columns',
    '<table><tr><td colspan="2">SEEN1</td><td>c</td></tr><tr><td>d</td><td>e</td><td>SEEN2</td></tr></table>',
    [/\| SEEN1 \|\s+\| c \|\n\| --- \| --- \| --- \|\n\| d \| e \| SEEN2 \|/],
  ),
  page(
    'that lays out a page',
    `<table><tr><td><h2>SEEN1</h2>${sentence('SEEN2')}</td><td><ul><li>SEEN3</li></ul></td></tr></table>`,
    ['## SEEN1', 'SEEN2', /- +SEEN3/],
    ['|', '<td'],
  ),
  page(
    'of data within one that lays out',
    '<table onclick="LEAK()"><tr><td title="LEAK"><table><tr><td onclick="say(\'LEAK\')">SEEN1</td><td>b</td></tr></table></td><td>SEEN2</td></tr></table>',
    [/\| SEEN1 \| b \|/, 'SEEN2'],
    ['LEAK', '<table', '<td'],
  ),
  page(
    'of one column',
    '<table><tr><td>SEEN1</td></tr><tr><td>SEEN2</td></tr></table>',
    ['SEEN1', 'SEEN2'],
    ['|'],
  ),
  page('with text beside its cells', '<table>SEEN1<tr>SEEN2<td>SEEN3</td><td>d</td></tr></table>', [
    'SEEN1',
    'SEEN2',
    /\| SEEN3 \| d \|/,
  ]),
  page(
    'none, but an article with most of its words beside it',
    `<main><article><h1>Otters</h1>${sentence('SEEN1').repeat(6)}</article></main><div class="sidebar related">${['SEEN2', 'SEEN3', 'SEEN4', 'SEEN5', 'SEEN6'].map(sentence).join('')}</div>`,
    ['SEEN1', 'SEEN2', 'SEEN3', 'SEEN4', 'SEEN5', 'SEEN6'],
  ),
];
