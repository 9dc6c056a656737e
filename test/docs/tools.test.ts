/** The documentation names only existing tools. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { matchGlob } from '@tempoclaw/shell-judge/glob';
import { loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { LEAF_DENY, SUBAGENT_DENY } from '#domain/policy/subagent-tools.ts';
import { PAGES, readPage } from './pages.ts';

/** The pages themselves make these; one is the call with which a budget asks. */
const MADE_THERE = new Set(['count_lines', 'budget.more', 'pay', 'refund']);

/** What a page calls a tool: `tool: x` of settings and scripts, “tool `x`”, a line `x {"…"}` of a script. */
function toolsNamed(text: string): string[] {
  const ways = [
    /(?:^ *- |[{,] *)"?tool"?: *"?([a-z][\w.*:]*)/gm,
    /\btools? `([a-z][\w.]*)`/g,
    /^ *([a-z]\w*) \{"/gm,
  ];
  return ways.flatMap((way) => [...text.matchAll(way)].map((found) => found[1] ?? ''));
}

/** Names that rules know for settings of other systems; a page that lists one claims it. */
function foreignNames(known: ReadonlySet<string>): readonly string[] {
  const names = [...SUBAGENT_DENY, ...LEAF_DENY];
  // A word alone, such as `subagent`, also has other meanings.
  return names.filter((name) => name.includes('_') && !known.has(name));
}

describe('tools that the documentation names', () => {
  let known: ReadonlySet<string>;
  before(async () => {
    known = new Set((await loadCatalog(FEATURES)).list().map(({ name }) => name));
  });

  // These pages list the names of other systems for the tools; the first is made from the catalog.
  for (const page of PAGES.filter((one) => !['docs/tools.md', 'docs/other-names.md'].includes(one)))
    it(`${page}: each stands in the catalog`, () => {
      const text = readPage(page);
      const isKnown = (name: string): boolean =>
        known.has(name) ||
        name.startsWith('group:') ||
        MADE_THERE.has(name) ||
        [...known].some((one) => matchGlob(name, one));
      assert.deepEqual(
        toolsNamed(text).filter((name) => !isKnown(name)),
        [],
      );
      assert.deepEqual(
        foreignNames(known).filter((name) => text.includes(`\`${name}\``)),
        [],
      );
    });

  it('are found by this test', () => {
    assert.deepEqual(toolsNamed('- tool: a\n{ "tool": "b" }, the tool `c`\nd {"x": 1}'), [
      'a',
      'b',
      'c',
      'd',
    ]);
  });
});
