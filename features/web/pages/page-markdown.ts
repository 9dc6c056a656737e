/** Converts an element to Markdown, with tables in GitHub's style. */
import Turndown from 'turndown';
import type { PageElement } from './page-document.ts';
import { columnsOf } from './page-tables.ts';

const turndown = new Turndown({
  headingStyle: 'atx',
  hr: '---',
  bulletListMarker: '-',
  codeBlockStyle: 'fenced',
  emDelimiter: '_',
});

turndown.addRule('deleted', {
  filter: ['del', 's'],
  replacement: (content) => (content.trim() === '' ? '' : `~~${content}~~`),
});
turndown.addRule('cell', {
  filter: ['td', 'th'],
  replacement(content, node) {
    const text = content
      .trim()
      .replace(/\s*\n\s*/g, ' ')
      .replace(/(?<!\\)\|/g, '\\|');
    return ` ${text} |${'  |'.repeat(columnsOf(asElement(node)) - 1)}`;
  },
});
turndown.addRule('row', {
  filter: 'tr',
  replacement(content, node) {
    const row = asElement(node);
    if (content.trim() === '') return '';
    const columns = Array.from(row.querySelectorAll('td,th'), columnsOf).reduce((sum, each) => sum + each, 0);
    return `|${content}\n${isFirst(row) ? `|${' --- |'.repeat(columns)}\n` : ''}`;
  },
});
turndown.addRule('section', {
  filter: ['thead', 'tbody', 'tfoot'],
  replacement: (content) => content,
});
turndown.addRule('table', {
  filter: 'table',
  replacement: (content) => `\n\n${content.trim()}\n\n`,
});

export function pageMarkdown(element: PageElement): string {
  return turndown.turndown(element as never).trim();
}

function asElement(node: unknown): PageElement {
  return node as PageElement;
}

function isFirst(row: PageElement): boolean {
  const [first] = row.closest('table')?.querySelectorAll('tr') ?? [];
  return first === row;
}
