/** Tables of a page: tables of data stay, and layout tables are replaced by their parts. */
import type { PageDocument, PageElement } from './page-document.ts';

const MAX_COLUMNS = 50;

export function columnsOf(cell: PageElement): number {
  return Math.min(Math.max(Number(cell.getAttribute('colspan')) || 1, 1), MAX_COLUMNS);
}

export function arrangeTables(document: PageDocument): void {
  for (const table of document.querySelectorAll('table')) {
    moveOut(table);
    if (isLayout(table)) unfold(document, table);
  }
}

// Node
const TEXT_NODE = 3;

/** What a table has beside its cells is shown before it (HTML, "foster parent"), and so is its caption. */
function moveOut(table: PageElement): void {
  const parts = [...table.querySelectorAll('thead,tbody,tfoot,tr,colgroup')];
  for (const part of [table, ...parts.filter((one) => one.closest('table') === table)])
    for (const node of Array.from(part.childNodes))
      if (node.nodeType === TEXT_NODE && node.textContent.trim() !== '') table.before(node);
  for (const caption of table.querySelectorAll('caption')) {
    if (caption.closest('table') !== table) continue;
    table.insertAdjacentHTML('beforebegin', `<p>${caption.innerHTML}</p>`);
    caption.remove();
  }
}

/** Characters of a cell that is too long to be data. */
const LONG = 1_500;

function isLayout(table: PageElement): boolean {
  if (table.querySelector('table,h1,h2,h3,h4,h5,h6')) return true;
  const cells = [...table.querySelectorAll('td,th')];
  const isOneColumn = cells.every(
    (cell) => cell.parentElement?.querySelector('td,th') === cell && columnsOf(cell) === 1,
  );
  return isOneColumn || cells.some((cell) => cell.textContent.length > LONG);
}

function unfold(document: PageDocument, table: PageElement): void {
  for (const cell of table.querySelectorAll('td,th')) {
    if (cell.closest('table') !== table) continue;
    const part = document.createElement('div');
    part.append(...cell.childNodes);
    table.before(part);
  }
  table.remove();
}
