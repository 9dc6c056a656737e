/** SH-1: which category a command belongs to, and what its switch opens. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { judgeCommand } from '@tempoclaw/shell-judge';
import { DEFAULT_RULES, UNATTENDED } from './rules.ts';

const commands = JSON.parse(readFileSync(new URL('./categories.json', import.meta.url), 'utf8')) as Record<
  string,
  string[]
>;

describe('SH-1 a command belongs to the category that a reader expects', () => {
  for (const [category, some] of Object.entries(commands)) {
    test(`${category} has its commands`, () => {
      for (const command of some) {
        const verdict = judgeCommand(command, UNATTENDED);
        assert.deepEqual([verdict.decision, verdict.category], ['deny', category], command);
      }
    });

    test(`without ${category} its commands run when nobody is asked, and are put to a person otherwise`, () => {
      for (const command of some) {
        const categoriesOff = [category];
        assert.equal(judgeCommand(command, { ...UNATTENDED, categoriesOff }).decision, 'allow', command);
        const { decision } = judgeCommand(command, { ...DEFAULT_RULES, categoriesOff });
        assert.equal(decision, 'ask', command);
      }
    });
  }

  test('a script of a known name may be sourced where any script may run', () => {
    for (const command of ['source venv/bin/activate', '. ./env.sh && pytest -q', 'source ~/.nvm/nvm.sh']) {
      assert.equal(judgeCommand(command, UNATTENDED).decision, 'allow', command);
      assert.equal(judgeCommand(command, DEFAULT_RULES).decision, 'ask', command);
    }
  });

  test('what only resembles these is not denied', () => {
    for (const command of [
      'mount',
      'telnet --help',
      'scp a b',
      'ls /etc/ld.so.conf',
      'cat /proc/cpuinfo',
      'grep mount f',
    ])
      assert.equal(judgeCommand(command, UNATTENDED).decision, 'allow', command);
  });
});
