/**
 * A canvas: a page of HTML beside a conversation, which its agent changes and people see in a sandboxed frame without
 * an origin.
 */

/** Changes to the page, in this order, wherever it is shown. */
export type CanvasStep =
  | { readonly do: 'show'; readonly html: string }
  | { readonly do: 'update'; readonly selector: string; readonly html: string }
  | { readonly do: 'eval'; readonly script: string };

/** `steps` begins with the shown page; each change has the next version. */
export interface Canvas {
  readonly version: number;
  readonly steps: readonly CanvasStep[];
}

export const CANVAS_LIMITS = {
  /** Characters of a page, and of all changes to it since. */
  html: 500_000,
  change: 100_000,
  total: 1_000_000,
  /** Updates and scripts before the page must be shown anew. */
  steps: 200,
  /** Characters of what a page sends to its agent, and how often it may send within a minute. */
  event: 4_000,
  eventsPerMinute: 20,
  /** Seconds that a link works, unless it sets a shorter time. */
  linkSeconds: 86_400,
} as const;

/** Returns the canvas with the change, or why the change cannot be made. */
export function changedCanvas(canvas: Canvas | undefined, step: CanvasStep): Canvas | string {
  const steps = step.do === 'show' ? [step] : [...(canvas?.steps ?? []), step];
  if (steps.length === 1 && step.do !== 'show') return 'nothing is shown yet; use action show first';
  if (steps.length > CANVAS_LIMITS.steps || JSON.stringify(steps).length > CANVAS_LIMITS.total)
    return 'too much was done to this page; use action show with the page as it should be now';
  return { version: (canvas?.version ?? 0) + 1, steps };
}

/**
 * The script that the frame runs before all else, in people's browsers and in ours. `canvasStep` does one step and
 * returns its result; a page sends something to its agent with `sendToAgent`.
 */
export const CANVAS_SCRIPT = `
globalThis.sendToAgent = (data) => parent.postMessage({ canvas: 'event', data }, '*');
globalThis.canvasStep = async (step) => {
  if (step.do === 'show') {
    document.open();
    addEventListener('message', canvasMessage);
    document.write(step.html);
    document.close();
    return 'shown';
  }
  if (step.do === 'eval') return await (0, eval)(step.script);
  const found = document.querySelector(step.selector);
  if (!found) throw new Error('nothing matches ' + step.selector);
  found.innerHTML = step.html;
  return 'updated';
};
globalThis.canvasMessage = async ({ source, data }) => {
  if (source !== parent || parent === globalThis) return;
  for (const step of data.steps) await canvasStep(step).catch((error) => console.error(String(error)));
};
addEventListener('message', canvasMessage);
if (parent !== globalThis) parent.postMessage({ canvas: 'ready' }, '*');
`;

/** The frame reaches nothing: no network, no origin, no forms, no other window. */
export const CANVAS_FRAME_POLICY =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; webrtc 'block'";

export const CANVAS_FRAME = `<!doctype html><meta charset="utf-8"><title>Canvas</title><script>${CANVAS_SCRIPT}</script>`;
