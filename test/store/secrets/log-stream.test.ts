import assert from 'node:assert/strict';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { createLogStream, openLogOutput } from '#store/secrets/log-stream.ts';

const folder = mkdtempSync(join(tmpdir(), 'tempoclaw-log-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('the log of a process', () => {
  const skip = existsSync('/dev/full') ? false : 'no /dev/full here';
  it('throws nothing when its disk is full, and says later how many lines were dropped', { skip }, () => {
    const fd = openSync('/dev/full', 'a');
    const log = createLogStream(openLogOutput(fd));
    log.write('{"msg":"first"}\n');
    log.write('{"msg":"second"}\n');
    // The next opened file gets the number that is free again.
    closeSync(fd);
    const file = join(folder, 'log');
    assert.equal(openSync(file, 'a'), fd);
    log.write('{"msg":"third"}\n');
    log.write('{"msg":"fourth"}\n');
    closeSync(fd);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    assert.deepEqual(
      lines
        .map((line) => JSON.parse(line) as { msg: string; dropped?: number })
        .map((l) => l.dropped ?? l.msg),
      [2, 'third', 'fourth'],
    );
  });
});
