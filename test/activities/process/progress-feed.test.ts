/** F12: what people see of a running command contains no half of a word, which could be half of a secret. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { createProgressFeed } from '#activities/process/progress-feed.ts';

beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
afterEach(() => mock.timers.reset());

function feed(): { seen: string[]; say: (text: string) => void; wait: () => void } {
  const seen: string[] = [];
  const { take } = createProgressFeed((text) => seen.push(text));
  return { seen, say: (text) => take(Buffer.from(text)), wait: () => mock.timers.tick(500) };
}

describe('F12 progress of a command', () => {
  test('a word that is being written waits until it has ended', () => {
    const { seen, say, wait } = feed();
    say('token ghp_FAKE');
    wait();
    say('restoftheword done\n');
    wait();
    assert.deepEqual(seen, ['token', 'ghp_FAKErestoftheword done']);
  });

  test('what is left when a command falls silent is shown', () => {
    const { seen, say, wait } = feed();
    say('Continue? [y/N]');
    wait();
    wait();
    wait();
    assert.deepEqual(seen, ['Continue?', '[y/N]']);
  });

  test('of much output the end is shown, from the beginning of a word', () => {
    for (const length of [600, 1_200, 9_000]) {
      const { seen, say, wait } = feed();
      say(`${'s'.repeat(length)}SECRET last words\n`);
      wait();
      assert.deepEqual(seen, ['last words'], `${length}`);
      mock.timers.reset();
      mock.timers.enable({ apis: ['setInterval'] });
    }
  });
});
