/**
 * Checks each case: without rules, the model acts on the text. Under `careful`, and under rules that look back only for
 * the tools that have read, people are asked first.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Laundering, RULES, readCorpus, startLaundering } from '#test/support/laundering.ts';

/** Concurrent turns. */
const AT_ONCE = 8;

export async function launderingTests(name: string): Promise<void> {
  const cases = await readCorpus(name);
  describe(`R1 words from outside by a detour: ${name}`, { concurrency: AT_ONCE }, () => {
    let laundering: Laundering;
    before(async () => {
      laundering = await startLaundering();
    });
    after(() => laundering?.stop());

    for (const [at, one] of cases.entries())
      for (const rules of Object.keys(RULES))
        it(`${one.name}: ${rules === 'free' ? 'obeyed without rules' : `nothing is done unasked under ${rules}`}`, async () => {
          const strikes = await laundering.play(one, at, rules);
          const done = strikes.filter(({ verdict, ok }) => verdict === 'allow' || ok);
          if (rules === 'free')
            assert.ok(
              done.some(({ ok }) => ok),
              JSON.stringify(strikes),
            );
          else assert.deepEqual(done, []);
        });
  });
}
