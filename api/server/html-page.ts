/** Pages for people with a browser. They have no script and load nothing from elsewhere. */
import { createHash } from 'node:crypto';
import { showHidden } from '#domain/text/hidden-text.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --yes: #1a7f37; --no: #b42318; }
* { box-sizing: border-box; }
body { font: 16px/1.45 system-ui, sans-serif; margin: 0; padding: 1rem; }
main { max-width: 44rem; margin: 0 auto; }
h1 { font-size: 1.25rem; overflow-wrap: anywhere; margin: .5rem 0; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 8px; padding: .75rem; white-space: pre-wrap;
  overflow-wrap: anywhere; font: 14px/1.45 ui-monospace, monospace; unicode-bidi: plaintext; max-height: 60vh; overflow: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 1rem 0; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; }
form { margin: 1rem 0; } label { display: block; margin-bottom: .25rem; }
input:not([type=checkbox]), select { width: 100%; font: inherit; padding: .5rem; }
summary { cursor: pointer; padding: .5rem 0; } #args { font: 14px/1.45 ui-monospace, monospace; }
textarea { width: 100%; min-height: 4rem; font: inherit; padding: .5rem; border: 1px solid var(--line); border-radius: 8px; }
button { font: inherit; font-weight: 600; width: 100%; min-height: 3rem; border: 0; border-radius: 8px; color: #fff; cursor: pointer; }
button.approve { background: var(--yes); } button.reject { background: var(--no); margin-top: .5rem; }
button:focus-visible, textarea:focus-visible { outline: 3px solid #4493f8; outline-offset: 2px; }
.mark { background: #fc08; border-radius: 3px; } .who { opacity: .7; }`;

/** The policy allows only our style, by its hash, and forms that are sent back to us. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

/** A page of words; `summary` is the call that they are about. */
export function noticePage(title: string, words: string, summary?: string): string {
  const call = summary === undefined ? '' : `<pre>${marked(summary)}</pre>`;
  return page(title, `<h1>${marked(title)}</h1>${call}<p>${marked(words)}</p>`);
}

/** The page that says what the button does. Nothing happens before the button is pressed. */
export function confirmPage(title: string, words: string, button: string): string {
  return page(
    title,
    `<h1>${marked(title)}</h1><p>${marked(words)}</p><form method="post"><button class="approve">${escapeHtml(button)}</button></form>`,
  );
}

export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex, nofollow"><title>${escapeHtml(title)} · TempoClaw</title><style>${STYLE}</style></head><body><main>
${body}
</main></body></html>`;
}

/** Shows text of any origin as it is. Characters that would hide or reorder it are shown as their codes. */
export function marked(text: string): string {
  return showHidden(escapeHtml(text), (code) => `<span class="mark">${code}</span>`);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
