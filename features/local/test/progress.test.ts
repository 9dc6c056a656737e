/** The steps of a start as a terminal shows them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';

const TERMINAL = fileURLToPath(new URL('../../../test/cli/support/terminal.py', import.meta.url));
const PROGRESS = import.meta.resolve('@tempoclaw/dev-services/steps');
const PROGRAM = `const { runSteps } = await import(${JSON.stringify(PROGRESS)});
  const step = { key: 'one', title: 'The first step', run: async () => 'done' };
  await runSteps([[step]], { json: false, write: console.log });`;

describe('the steps of a start', () => {
  for (const columns of [0, 60])
    it(`a step is one line on a terminal of ${columns} columns`, async () => {
      const command = [TERMINAL, process.execPath, '--input-type=module', '-e', PROGRAM];
      const { stdout } = await promisify(execFile)('python3', command, {
        env: { ...process.env, TERMINAL_COLUMNS: String(columns), TERM: 'xterm' },
      });
      assert.match(stripVTControlCharacters(stdout), /✔ The first step: done \(\d/);
    });
});
