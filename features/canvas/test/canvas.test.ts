/** Tests what the tool `canvas` says and refuses; test/ui/canvas.test.ts tests what it shows in a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tool } from '../tools/canvas.ts';
import { type Canvas, CANVAS_LIMITS, changedCanvas } from '../contract.ts';
import type { Canvases } from '../canvases.ts';
import { toolBench } from '#test/support/tool-call.ts';

/** One canvas in memory, which no browser views. */
function memoryCanvases(): Canvases {
  let canvas: Canvas | undefined;
  return {
    async change(_call, step) {
      const changed = changedCanvas(canvas, step);
      if (typeof changed !== 'string') canvas = changed;
      return changed;
    },
    find: async () => canvas,
    look: async () => ({ value: '[1]', image: new Uint8Array([1]) }),
  };
}

describe('TL canvas', () => {
  test('is shown first, then changed, run and looked at', async (t) => {
    const bench = await toolBench(t, { deps: { canvases: memoryCanvases(), browsers: {} } });
    for (const early of [
      { action: 'update', selector: 'p', html: 'x' },
      { action: 'eval', script: '1' },
      { action: 'snapshot' },
    ]) {
      const result = await bench.run(tool, early);
      assert.match(result.ok ? '' : result.message, /nothing is shown yet; use action show first/);
    }
    const shown = await bench.run(tool, { action: 'show', html: '<p>' });
    assert.match(shown.ok ? shown.text : '', /at version 1;/);
    const updated = await bench.run(tool, { action: 'update', selector: 'p', html: 'x' });
    assert.match(updated.ok ? updated.text : '', /at version 2;.* unless nothing there matches p\./);
    assert.deepEqual(await bench.run(tool, { action: 'eval', script: '[1]' }), { ok: true, text: '[1]' });
    assert.deepEqual(await bench.run(tool, { action: 'snapshot' }), {
      ok: true,
      text: 'The canvas at version 3.',
      images: [new Uint8Array([1])],
    });
  });

  test('is shown and changed where there is no browser to look at it with', async (t) => {
    const bench = await toolBench(t, { deps: { canvases: memoryCanvases() } });
    assert.ok((await bench.run(tool, { action: 'show', html: '<p>' })).ok);
    const seen = await bench.run(tool, { action: 'snapshot' });
    assert.match(!seen.ok && seen.code === 'NotFound' ? seen.message : '', /has no browser/);
  });

  test('names what is missing and what is too much', async (t) => {
    const bench = await toolBench(t, { deps: { canvases: memoryCanvases() } });
    for (const [args, words] of [
      [{ action: 'show' }, /^html: is required for show/],
      [{ action: 'update', html: 'x' }, /^selector: is required for update/],
      [{ action: 'eval' }, /^script: is required for eval/],
      [
        { action: 'update', selector: 'p', html: 'x'.repeat(CANVAS_LIMITS.change + 1) },
        /^html: has more than/,
      ],
      [{ action: 'show', html: 'x'.repeat(CANVAS_LIMITS.html + 1) }, /^html: /],
      [{ action: 'hide' }, /^action: /],
    ] as const) {
      const result = await bench.run(tool, args);
      assert.match(!result.ok && result.code === 'InvalidArgs' ? result.message : '', words);
    }
  });

  test('what was done to a page has an end, after which it is shown anew', () => {
    const step = { do: 'eval', script: '1' } as const;
    let canvas = changedCanvas(undefined, { do: 'show', html: 'x' });
    for (let made = 1; made < CANVAS_LIMITS.steps; made += 1) {
      assert.ok(typeof canvas !== 'string');
      canvas = changedCanvas(canvas, step);
    }
    assert.ok(typeof canvas !== 'string');
    assert.match(String(changedCanvas(canvas, step)), /use action show/);
    assert.deepEqual(changedCanvas(canvas, { do: 'show', html: 'y' }), {
      version: CANVAS_LIMITS.steps + 1,
      steps: [{ do: 'show', html: 'y' }],
    });
  });
});
