/**
 * R1: what the cases of page reading call visible and hidden is so in a real browser: without the words, its picture
 * changes or not. Each is read so in each reading.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { takePicture } from '#features/browser/index.ts';
import { READINGS, sightCases, sightProblems } from '#features/web/test/sight-cases.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { findChromium, openPage, startBrowser } from './browser.ts';

const chromium = findChromium();
const skip =
  chromium === undefined && process.env['CI'] !== 'true' ? 'no Chromium is installed on this machine' : false;

/** Makes the words transparent, so that nothing is painted in their place. */
const CLEAR_WORDS = `(() => {
  const ranges = [];
  const look = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.textContent.indexOf('WORDS');
      if (at < 0) continue;
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + 5);
      ranges.push(range);
    }
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) look(element.shadowRoot);
  };
  look(document.body);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('::highlight(words){color:transparent !important;-webkit-text-fill-color:transparent !important;-webkit-text-stroke-color:transparent !important;text-shadow:none !important}');
  document.adoptedStyleSheets = [sheet];
  CSS.highlights.set('words', new Highlight(...ranges));
})()`;

/** The largest difference of two pictures in a channel, 0 to 255. */
const DIFFERENCE = `async ([one, other]) => {
  const pixels = async (data) => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + data;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    return canvas.getImageData(0, 0, image.width, image.height).data;
  };
  const [before, after] = [await pixels(one), await pixels(other)];
  return before.reduce((most, value, index) => Math.max(most, Math.abs(value - after[index])), 0);
}`;
/** Percent of the cases that a run shows to the browser: what it draws changes with the cases and the browser alone. */
const SHARE = Number(process.env['TEST_SHARE'] ?? 25);
/** Paler words are not readable. */
const READABLE = 24;

test('R1 a page is read as a browser shows it, in each reading', async () => {
  const wrong: string[] = [];
  for (const one of sightCases()) for (const how of READINGS) wrong.push(...(await sightProblems(one, how)));
  assert.deepEqual(wrong, []);
});

describe('R1 what people see of a page', { skip, timeout: 600_000 }, () => {
  let browser: Browser;
  before(async () => {
    assert.ok(chromium);
    browser = await startBrowser(chromium);
  });
  after(() => browser?.close());

  it('is what the cases say', async (t) => {
    const chance = createChance(seedOfRun());
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    const page = await openPage(browser, { width: 900, height: 700 });
    const judge = await openPage(browser, { width: 100, height: 100 });
    const wrong: string[] = [];
    // Whether the style is set by a class or around the words concerns the reader; a browser checks it once.
    const cases = sightCases()
      .filter(({ name }) => !/ of a class$| around it$/.test(name))
      .filter(() => chance.between(1, 100) <= SHARE);
    for (const { name, html, isSeen } of cases) {
      // Each has a document of its own, because a declared scheme of a page would stay.
      await page.goto('about:blank');
      await page.setContent(html);
      const shown = await picture(page);
      await page.evaluate(CLEAR_WORDS);
      const pair = JSON.stringify([shown, await picture(page)]);
      const difference = await judge.evaluate<number>(`(${DIFFERENCE})(${pair})`);
      if (difference > READABLE !== isSeen) wrong.push(`${name}: ${difference}`);
    }
    assert.deepEqual(wrong, []);
  });
});

async function picture(page: Page): Promise<string> {
  return (await takePicture(() => page.screenshot({ fullPage: true }))).toString('base64');
}
