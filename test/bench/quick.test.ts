/** The bench's one-minute version on real services must finish with a number in every cell; no number is judged. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, it } from 'node:test';

const MAIN = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));

interface Printed {
  readonly sections: readonly {
    readonly name: string;
    readonly rows: readonly (readonly string[])[];
    readonly goals: readonly { readonly value: number }[];
  }[];
}

async function bench(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args], { timeout: 180_000 });
  return stdout;
}

describe('npm run bench -- --quick', () => {
  it('measures steps, many turns at once and a killed worker beside both bare loops', async () => {
    const only = ['short', 'throughput', 'go-on'];
    const printed = JSON.parse(
      await bench('--quick', '--json', ...only.flatMap((name) => ['--only', name])),
    ) as Printed;
    assert.deepEqual(
      printed.sections.map((section) => section.name),
      only,
    );
    for (const section of printed.sections) {
      assert.ok(section.rows.length > 0, section.name);
      for (const cell of section.rows.flat().slice(1))
        assert.doesNotMatch(cell, /NaN|undefined/, section.name);
      for (const goal of section.goals) assert.ok(Number.isFinite(goal.value), section.name);
    }
  });

  it('names the measurements when asked for another one', async () => {
    await assert.rejects(bench('--only', 'nonsense'), /there are short, long, waits/);
  });
});
