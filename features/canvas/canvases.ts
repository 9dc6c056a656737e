/**
 * What the tool `canvas` does: it changes the session's canvas, and views it in a tab of the session's own Chromium.
 */
import { type Browsers, ignoring, shortError, type Tab, takePicture } from '#features/browser/index.ts';
import { CANVAS_FRAME, CANVAS_FRAME_POLICY, type Canvas, type CanvasStep } from './contract.ts';
import { type ToolFailure, toolError } from '#domain/tool.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { changeCanvas, findCanvas } from './store.ts';
import type { ActivityDeps } from '#activities/activity-deps.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export interface CanvasLook {
  /** The result of the last step, as JSON. */
  readonly value: string;
  readonly image: Uint8Array;
}

export interface Canvases {
  change(call: RunningCall, step: CanvasStep): Promise<Canvas | string>;
  find(call: RunningCall): Promise<Canvas | undefined>;
  /** Shows it in a browser without network access. */
  look(browsers: Pick<Browsers, 'use'>, call: RunningCall, canvas: Canvas): Promise<CanvasLook | ToolFailure>;
}

export type CanvasesDeps = Pick<ActivityDeps, 'pool' | 'scrubberOf' | 'onWrite'>;

const LOOK_MS = 20_000;
const VALUE_CHARS = 20_000;
const FRAME_URL = 'http://canvas.invalid/';

export function createCanvases({ pool, scrubberOf, onWrite }: CanvasesDeps): Canvases {
  return {
    async change(call, step) {
      // Its readers are not the same as those who may read the call's arguments.
      const { text } = await scrubberOf(call.tenant);
      const scrubbed = Object.fromEntries(Object.entries(step).map(([name, words]) => [name, text(words)]));
      const changed = await changeCanvas(forTenant(pool, call.tenant), call, scrubbed as CanvasStep);
      onWrite(call.tenant, call.sessionKey);
      return changed;
    },
    find: (call) => findCanvas(forTenant(pool, call.tenant), call.sessionKey),
    look: (browsers, call, canvas) =>
      browsers.use(call, async (browser) => {
        const before = browser.current();
        const tab = await browser.newTab();
        if (!tab) return toolError('ExecutionFailed', 'the browser has no tab left; close one');
        try {
          return await within(LOOK_MS, call.signal, inTab(tab, canvas));
        } catch (error) {
          if (call.signal.aborted) throw error;
          return toolError('ExecutionFailed', `the page: ${shortError(error)}`);
        } finally {
          if (before) browser.choose(before);
          // A script that never ends prevents an orderly close of the tab.
          void ignoring(tab.page.close());
        }
      }),
  };
}

/**
 * Shows the canvas as people's browsers do: by its policy, it has no origin and no network access. The address leads
 * nowhere.
 */
async function inTab({ page }: Tab, { steps }: Canvas): Promise<CanvasLook> {
  const headers = { 'content-security-policy': CANVAS_FRAME_POLICY };
  await page.route('**/*', (route) =>
    route.request().url() === FRAME_URL
      ? route.fulfill({ contentType: 'text/html', headers, body: CANVAS_FRAME })
      : route.abort(),
  );
  await page.goto(FRAME_URL);
  const run = `(async (steps) => {
    let value;
    for (const [at, step] of steps.entries()) {
      try { value = await canvasStep(step); }
      catch (error) { if (at === steps.length - 1) throw error; }
    }
    return String(JSON.stringify(value) ?? value).slice(0, ${VALUE_CHARS});
  })(${JSON.stringify(steps)})`;
  const value = await page.evaluate<string>(run);
  return { value, image: await takePicture(() => page.screenshot({ type: 'png' })) };
}

/** Throws when it takes longer: what a page runs has no time limit of its own. */
async function within<Result>(ms: number, signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const pending = new Promise<never>((_resolve, reject) => {
    late.addEventListener('abort', () =>
      reject(new Error(`it did not come to an end within ${ms / 1000} s`)),
    );
  });
  return Promise.race([work, pending]);
}
