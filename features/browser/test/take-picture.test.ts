import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { takePicture } from '#features/browser/index.ts';

const REFUSED = 'page.screenshot: Protocol error (Page.captureScreenshot): Unable to capture screenshot';

/** Fails with `messages` in turn, then succeeds. */
function capturing(...messages: readonly string[]) {
  let calls = 0;
  const capture = (): Promise<string> => {
    const message = messages[calls];
    calls += 1;
    return message === undefined ? Promise.resolve('picture') : Promise.reject(new Error(message));
  };
  return { capture, calls: () => calls };
}

describe('TL a picture of a page', () => {
  it('is taken again when Chromium refuses it for a moment', async () => {
    const { capture, calls } = capturing(REFUSED, REFUSED);
    assert.equal(await takePicture(capture), 'picture');
    assert.equal(calls(), 3);
  });

  it('fails when Chromium goes on refusing it', async () => {
    const { capture, calls } = capturing(...Array<string>(9).fill(REFUSED));
    await assert.rejects(takePicture(capture), /Unable to capture/);
    assert.equal(calls(), 4);
  });

  it('fails at once for any other reason', async () => {
    const { capture, calls } = capturing('page.screenshot: Timeout 30000ms exceeded.');
    await assert.rejects(takePicture(capture), /Timeout/);
    assert.equal(calls(), 1);
  });
});
