/** Links between the pages lead somewhere, and every page can be reached from the README. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { anchors, localLinks, PAGES, ROOT } from './pages.ts';

/** A link's file, from the root, and its anchor. */
function target(page: string, link: string): { file: string; anchor: string | undefined } {
  const [path = '', anchor] = link.split('#');
  return { file: path === '' ? page : relative('.', join(dirname(page), path)), anchor };
}

describe('links of the documentation', () => {
  for (const page of PAGES)
    it(`${page} links only to files and headings that are there`, () => {
      for (const link of localLinks(page)) {
        const { file, anchor } = target(page, link);
        assert.ok(existsSync(join(ROOT, file)), `${page} links to ${link}`);
        if (anchor !== undefined && file.endsWith('.md'))
          assert.ok(anchors(file).has(anchor), `${page} links to ${link}: no such heading`);
      }
    });

  it('every page is linked from the README or the list of all pages, itself or with its folder', () => {
    const lists = ['README.md', 'docs/README.md'];
    const linked = new Set(lists.flatMap((list) => localLinks(list).map((link) => target(list, link).file)));
    for (const page of PAGES.filter((one) => one !== 'README.md'))
      assert.ok(linked.has(page) || linked.has(dirname(page)), `${page} is not linked from docs/README.md`);
  });

  it('every picture is shown by a page, and is small enough to load', () => {
    const shown = new Set(PAGES.flatMap((page) => localLinks(page).map((link) => target(page, link).file)));
    for (const name of ['running', 'timeline-waiting', 'user-metadata', 'search-attributes', 'approval']) {
      const file = `docs/images/${name}.png`;
      assert.ok(shown.has(file), `${file} is shown nowhere`);
      assert.ok(statSync(join(ROOT, file)).size <= 300_000, file);
      assert.equal(readFileSync(join(ROOT, file)).toString('latin1', 1, 4), 'PNG', file);
    }
  });
});
