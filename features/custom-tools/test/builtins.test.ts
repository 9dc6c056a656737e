/** CU-2: whatever builtin of a real bash a template calls, it runs no argument that it may get. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Parameters } from '../rules/check-parameters.ts';
import { renderCommand } from '../rules/render.ts';
import { readTemplate } from '../rules/template.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

const parameters: Parameters = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
};

/** A shell that evaluates it would run this. */
const HOSTILE = [
  '$(touch ran)',
  'x[$(touch ran)]',
  'x[$(touch ran)]=1',
  'x=$(touch ran)',
  'touch ran',
  './evil',
  'x=1;touch ran',
  '_[`touch ran`]',
];
const BEFORE = ['', '-v', '-x', '-a', '-n', '-p', '-c', '-f', 'x', '-A x', '- -p', 'x=1'];
const AFTER = ['', ' x'];
/** Builtins whose operands are on both sides. */
const TESTS = ['test', '[', '[['];

function accepted(builtin: string): string[] {
  return BEFORE.flatMap((before) =>
    [...AFTER, ...(TESTS.includes(builtin) ? [' -eq 1', ' = 1'] : [])].flatMap((after) => {
      const read = readTemplate(`${builtin} ${before} {{.a}}${after}`, parameters);
      if (!read.ok) return [];
      return HOSTILE.flatMap((a) => {
        const rendered = renderCommand(read.template, parameters, { a });
        return rendered.ok ? [rendered.command] : [];
      });
    }),
  );
}

test('CU-2 no builtin evaluates an argument of a template that is taken', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'evil'), '#!/bin/sh\ntouch ran\n');
  await chmod(join(cwd, 'evil'), 0o755);
  const env = { PATH: '/usr/bin:/bin', HOME: cwd };
  const builtins = execFileSync('bash', ['-c', 'compgen -b; compgen -k']).toString().trim().split('\n');
  let taken = 0;
  for (const builtin of builtins) {
    const commands = accepted(builtin);
    taken += commands.length;
    const script = commands.map((command) => `( ${command}\n) </dev/null`).join('\n');
    spawnSync('bash', ['-c', script], { cwd, env, stdio: 'ignore', timeout: 20_000, killSignal: 'SIGKILL' });
    assert.ok(!existsSync(join(cwd, 'ran')), `${builtin} ran an argument`);
  }
  assert.ok(taken > 1_000, 'the test would be empty otherwise');
  // The check itself detects what runs.
  spawnSync('bash', ['-c', `printf -v '${HOSTILE[1] ?? ''}' x`], { cwd, env, stdio: 'ignore' });
  assert.ok(existsSync(join(cwd, 'ran')));
  await rm(join(cwd, 'ran'));
});
