/** IN-6, DU-7: `tempoclaw budgets` and `tempoclaw usage` against the whole stack. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';
import { runCli } from './support/run-cli.ts';

describe('IN-6 tempoclaw budgets and usage', () => {
  let stack: Stack;
  let folder: string;
  before(async () => {
    stack = await startStack();
    folder = mkdtempSync(join(tmpdir(), 'tempoclaw-cli-'));
  });
  after(async () => {
    await stack.stop();
    rmSync(folder, { recursive: true });
  });

  const cli = (...args: string[]) =>
    runCli(args, { url: stack.url, cwd: folder, env: { TEMPOCLAW_API_KEY: stack.key } });

  it('limits, shows what was used, and takes the limit away', async () => {
    assert.match((await cli('budgets')).stderr, /^There is no budget/);
    const added = await cli(
      'budgets',
      'add',
      'session',
      '--calls',
      '5',
      '--usd',
      '2.5',
      '--on-limit',
      'stop',
    );
    assert.match(added.stdout, /^bud_\S+: \$2\.50, 5 calls for each session\n$/);
    const id = /bud_[\w-]+/.exec(added.stdout)?.[0] ?? '';
    await stack.worker.ended((await stack.worker.say('spends', 'Hello.')).turn_id);
    assert.match(
      (await cli('budgets', 'list')).stdout,
      /^ID +FOR +PERIOD +LIMITS +MOST USED\nbud_\S+ +session +total +\$2\.50, 5 calls +1 calls by spends/,
    );
    assert.match((await cli('budgets', 'show', id)).stdout, /spends +1970-01-01 +1 calls +0 calls +0 calls/);
    const accounts = JSON.parse((await cli('budgets', 'accounts', '--subject', 'spends', '--json')).stdout);
    assert.deepEqual(
      accounts.data.map(({ measure, spent }: { measure: string; spent: number }) => [measure, spent]),
      [
        ['calls', 1],
        ['usd', 0],
      ],
    );
    const changed = await cli('budgets', 'set', id, '--calls', '7', '--tokens', '9000');
    assert.equal(changed.stdout, `${id}: 9000 tokens, $2.50, 7 calls for each session\n`);
    assert.match((await cli('budgets', 'show', id)).stdout, /spends +1970-01-01 +1 calls +0 calls +0 calls/);
    const less = JSON.parse((await cli('budgets', 'unset', id, 'tokens', 'usd', '--json')).stdout);
    assert.deepEqual([less.calls, less.usd, less.tokens, less.on_limit], [7, undefined, undefined, 'stop']);
    assert.match((await cli('budgets', 'unset', id, 'calls')).stderr, /names no limit/);
    assert.equal((await cli('budgets', 'unset', id, 'pence')).code, 2);
    assert.equal((await cli('budgets', 'set', id)).code, 2);
    assert.match((await cli('budgets', 'delete', id)).stdout, /limits nothing any more/);
    const wrong = await cli('budgets', 'add', 'tenant', '--usd', 'much');
    assert.equal(wrong.code, 2);
  });

  it('sums up what models were used', async () => {
    await stack.worker.ended((await stack.worker.say('sums', 'Hello.')).turn_id);
    const { stdout } = await cli('usage', '--by', 'session,model', '--session', 'sums');
    assert.match(
      stdout,
      /^SESSION +MODEL +CALLS +TOKENS IN +CACHED +TOKENS OUT +COST\nsums +rehearsal\/follow +1 +\d+ +0 +\d+ +\$0\.0000/,
    );
    assert.match(
      (await cli('usage', '--from', '2020-01-01', '--to', '2020-01-02')).stdout,
      /^No model was used/,
    );
  });
});
