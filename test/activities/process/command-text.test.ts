/** F12: how output is stored, cut and described. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';
import { cutOutput, goDuration, plain } from '#activities/process/command-text.ts';
import { createOutputWindow } from '@tempoclaw/sandbox';

describe('F12 what is kept of a stream', () => {
  test('is all of it up to its room, else its first 70 % and last 30 %', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 40 }), { maxLength: 60 }), (pieces) => {
        const window = createOutputWindow(100);
        for (const piece of pieces) window.write(Buffer.from(piece, 'latin1'));
        const all = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'latin1')));
        assert.equal(window.total, all.length);
        if (all.length <= 100) assert.equal(window.text(), all.toString('utf8'));
        else {
          const head = all.subarray(0, 70).toString('utf8');
          const tail = all.subarray(-30).toString('utf8');
          assert.equal(window.text(), `${head}\n[${all.length - 100} bytes left out]\n${tail}`);
        }
      }),
    );
  });
});

describe('REFERENCE §3 what the model reads', () => {
  const long = 'x'.repeat(1_000);

  test('has the end only when it looks important', () => {
    assert.match(
      cutOutput(`${long} all done`, 100),
      /^x{70}\n\[909 of 1009 characters left out\]\nx+ all done$/,
    );
    assert.match(cutOutput(`${long}abc`, 100), /^x{100}\n\[903 of 1003 characters left out\]\n$/);
    assert.equal(cutOutput(long, 1_000), long);
  });

  test('never has half a character', () => {
    const text = cutOutput(`${'🙂'.repeat(200)} failed ${'🙂'.repeat(20)}`, 101);
    assert.ok(text.isWellFormed());
  });

  test('has no escape sequences and no NUL, whatever they are, in linear time', () => {
    assert.equal(plain('\u001b[1;31mred\u001b[0m\0'), 'red');
    // The input is a megabyte of beginnings that never end.
    assert.equal(plain('\u001b['.repeat(500_000)), '');
    assert.ok(plain('\u001b]8;;'.repeat(200_000)).length <= 1_000_000);
  });

  test('has times as Go prints them', () => {
    assert.deepEqual([60_000, 45_000, 90_000, 500, 3_661_000].map(goDuration), [
      '1m0s',
      '45s',
      '1m30s',
      '0.5s',
      '1h1m1s',
    ]);
  });
});

test('R7 only names on the list reach a command', () => {
  const environment = commandEnvironment({
    PATH: '/p',
    LC_ALL: 'C',
    AWS_SECRET_ACCESS_KEY: 'x',
    LD_PRELOAD: 'x',
    BASH_ENV: 'x',
    npm_config_token: 'x',
    HOME: undefined,
  });
  assert.equal(environment['PATH'], '/p');
  assert.equal(environment['LC_ALL'], 'C');
  assert.equal(environment['HOME'], '/');
  assert.ok(!Object.values(environment).includes('x'));
});
