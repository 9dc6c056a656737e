/** What a node has started it never starts again, whatever died in between. */
import assert from 'node:assert/strict';
import { appendFile, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openJournal } from '../program/journal.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const DONE = { ok: true, text: 'done' };
const HOUR = 3_600_000;

describe('TL nodes the journal', () => {
  it('says what came of an id, also to the next process', async (t) => {
    const file = join(await temporaryFolder(t), 'node', 'journal.jsonl');
    const first = await openJournal(file);
    assert.equal(await first.begin('a', true), 'new');
    assert.equal(await first.begin('a', true), 'running');
    await first.end('a', DONE);
    assert.deepEqual(await first.begin('a', true), DONE);
    await first.close();
    const next = await openJournal(file);
    assert.equal(next.id, first.id);
    assert.deepEqual(await next.begin('a', false), DONE);
    await next.close();
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  it('what a process had begun when it died is lost, and a half line counts for nothing', async (t) => {
    const file = join(await temporaryFolder(t), 'journal.jsonl');
    const killed = await openJournal(file);
    await killed.begin('begun', true);
    await killed.begin('ended', true);
    await killed.end('ended', DONE);
    await truncate(file, (await stat(file)).size - 5);
    await killed.close();
    const next = await openJournal(file);
    assert.equal(await next.begin('begun', true), 'lost');
    assert.equal(await next.begin('ended', true), 'lost');
    assert.equal(await next.begin('new', true), 'new');
    await next.close();
    const last = await openJournal(file);
    assert.equal(await last.begin('new', true), 'lost');
    await last.close();
  });

  it('begins nothing where it must not, and forgets nothing that may come again', async (t) => {
    let now = 0;
    const file = join(await temporaryFolder(t), 'journal.jsonl');
    const journal = await openJournal(file, () => now);
    assert.equal(await journal.begin('a', false), 'full');
    assert.equal(await journal.begin('a', true), 'new');
    await journal.end('a', { ok: true, text: 'x'.repeat(1_000) });
    // More lines than the file keeps before it is rewritten.
    now = HOUR / 2;
    for (let at = 0; at < 2_100; at += 1) await journal.begin(`many-${at}`, true);
    assert.equal((await journal.begin('a', true)) === 'new', false);
    now = 2 * HOUR;
    for (let at = 0; at < 2_100; at += 1) await journal.begin(`more-${at}`, true);
    await journal.close();
    assert.ok(!(await readFile(file, 'utf8')).includes('"id":"a"'));
  });

  it('keeps the newest results where there are too many, and every id', async (t) => {
    const file = join(await temporaryFolder(t), 'journal.jsonl');
    const journal = await openJournal(file);
    const text = 'x'.repeat(200_000);
    for (let at = 0; at < 100; at += 1) {
      await journal.begin(`id-${at}`, true);
      await journal.end(`id-${at}`, { ok: true, text });
    }
    for (let at = 0; at < 2_000; at += 1) await journal.begin(`filler-${at}`, true);
    await journal.close();
    assert.ok((await stat(file)).size < 18_000_000);
    const next = await openJournal(file);
    assert.equal(await next.begin('id-0', true), 'lost');
    assert.deepEqual(await next.begin('id-99', true), { ok: true, text });
    await next.close();
  });

  it('one whose head is gone is another journal', async (t) => {
    const file = join(await temporaryFolder(t), 'journal.jsonl');
    const { id, close } = await openJournal(file);
    await close();
    await truncate(file, 0);
    await appendFile(file, '{"id":"a","at":1}\n');
    const next = await openJournal(file);
    assert.notEqual(next.id, id);
    await next.close();
  });
});
