/**
 * The page around a canvas: it keeps the frame up to date, and forwards what the frame sends to its agent. It has no
 * key.
 */
import { createHash } from 'node:crypto';
import { CANVAS_LIMITS } from '../contract.ts';

const STYLE = `html, body, iframe { margin: 0; padding: 0; border: 0; width: 100%; height: 100%; display: block; }
p { position: fixed; bottom: 0; left: 0; margin: .5rem; padding: .25rem .5rem; background: #fffd; color: #222; font: 14px system-ui, sans-serif; }
p:empty { display: none; }`;

/** A page that is shown anew has a new frame, so that nothing of the previous one stays. */
const SCRIPT = `
const here = location.pathname.replace(/\\/$/, '');
const note = document.querySelector('p');
let frame, shown, done, wanted;
function begin() {
  const old = document.querySelector('iframe');
  frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.title = 'Canvas';
  frame.src = here.replace(/[^/]*$/, 'frame');
  done = -1;
  if (old) old.replaceWith(frame); else document.body.prepend(frame);
}
function send() {
  if (done < 0 || done >= wanted.steps.length) return;
  frame.contentWindow.postMessage({ steps: wanted.steps.slice(done) }, '*');
  done = wanted.steps.length;
}
addEventListener('message', async ({ source, data }) => {
  if (source !== frame?.contentWindow || typeof data !== 'object' || data === null) return;
  if (data.canvas === 'ready' && done < 0) { done = 0; send(); }
  if (data.canvas !== 'event') return;
  const body = JSON.stringify({ data: data.data ?? null });
  if (body.length > ${CANVAS_LIMITS.event}) { tell('The page wanted to send too much'); return; }
  const answer = await fetch(here + '/events', { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(() => null);
  if (!answer?.ok) tell(answer?.status === 429 ? 'The page sends too often' : 'The page could not send');
  // What went through before may be answered after what did not.
  else if (Date.now() > toldUntil) note.textContent = '';
});
let toldUntil = 0;
function tell(words) {
  note.textContent = words;
  toldUntil = Date.now() + 10000;
}
new EventSource(here + '/events').addEventListener('canvas', (event) => {
  wanted = JSON.parse(event.data);
  const isNew = shown === undefined || shown !== wanted.base;
  shown = wanted.base;
  note.textContent = '';
  if (isNew) begin(); else send();
});
`;

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** `frame-src` also prevents a frame from navigating elsewhere. */
export const CANVAS_PAGE_POLICY = `default-src 'none'; script-src ${hash(SCRIPT)}; style-src ${hash(STYLE)}; connect-src 'self'; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`;

export const CANVAS_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Canvas</title>
<style>${STYLE}</style><body><p role="status">Nothing is shown yet.</p><script>${SCRIPT}</script></body></html>`;
