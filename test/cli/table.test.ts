/** IN-6 tables on terminals of several widths. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Columns, type Output, printTable } from '#cli/output.ts';
import { columnsOf } from '#cli/text.ts';

interface Row {
  readonly id: string;
  readonly call: string;
  readonly note?: string;
  readonly at: string;
}

const ROWS: readonly Row[] = [
  { id: `apr_${'x'.repeat(30)}`, call: 'write_file: a/long/path/of/a/file.md', at: 'today' },
  { id: 'apr_2', call: '漢字 '.repeat(40), at: 'yesterday' },
];
const COLUMNS: Columns<Row> = { approval: 'id', call: { flexible: 'call' }, note: 'note', expires: 'at' };

function printed(columns: number, rows = ROWS, isTTY = true): string[] {
  const lines: string[] = [];
  const output: Output = {
    stream: { isTTY } as NodeJS.WriteStream,
    columns,
    line: (text = '') => void lines.push(...text.split('\n')),
    paint: (_style, text) => text,
  };
  printTable(output, COLUMNS, rows);
  return lines;
}

describe('IN-6 a table for people', () => {
  it('never leaves a terminal’s width to the terminal, and loses nothing but the ends of long cells', () => {
    for (const columns of [40, 50, 60, 70, 80, 120]) {
      const lines = printed(columns);
      for (const line of lines) assert.ok(columnsOf(line) <= columns, `${columns}: ${line}`);
      const text = lines.join(' ').replace(/\s+/g, ' ');
      for (const { id, at } of ROWS) assert.ok(text.includes(id) && text.includes(at), text);
    }
  });

  it('puts the columns that do not fit below their row, with their names, and leaves empty ones out', () => {
    const [first] = ROWS;
    assert.ok(first);
    assert.deepEqual(printed(50, [first]), [
      'APPROVAL                            EXPIRES',
      `${first.id}  today`,
      '  call write_file: a/long/path/of/a/file.md',
    ]);
  });

  it('has all columns in one line where no terminal is', () => {
    assert.equal(printed(20, ROWS, false).length, 3);
  });
});
