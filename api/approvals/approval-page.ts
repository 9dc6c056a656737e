/**
 * The page behind an approval link. It shows exactly and harmlessly what will run, with buttons. It has no script and
 * loads nothing from elsewhere, and viewing it has no effect.
 */
import { createHash } from 'node:crypto';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import { approvalFacts } from '#domain/approval/approval-facts.ts';
import type { FormField, McpForm } from '#domain/form.ts';
import { promptLines } from '#domain/model/sampling.ts';
import type { LinkDecision } from '#domain/schema/approval-link.ts';
import { showHidden, unhideJson } from '#domain/text/hidden-text.ts';

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

/** Length of the JSON in UTF-16 units. As a form it is three to nine times as long at worst. */
const MAX_EDITED = 6_000;

export interface DeciderView {
  readonly user: string;
  readonly decision: LinkDecision | null;
  /** The arguments that were sent in place of the original ones, and why they were refused. */
  readonly tried?: { readonly args: string; readonly problem: string } | undefined;
}

/** The page that asks for a decision; `user` makes it. */
export function askingPage(row: ApprovalRow, { user, decision, tried }: DeciderView, now: Date): string {
  const mayDecide = (one: LinkDecision): boolean => decision === null || decision === one;
  const shown = approvalFacts(row, now).map(([name, value]) => `<dt>${name}</dt><dd>${marked(value)}</dd>`);
  return page(
    'Approval',
    `<p class="who">You decide as <strong>${marked(user)}</strong></p>
${row.form ? question(row.form) : call(row)}
<dl>${shown.join('')}</dl>
${mayDecide('approve') ? form(row, 'approve', `${(row.form?.fields ?? []).map(input).join('')}<button class="approve">${row.form ? 'Send' : 'Approve'}</button>`) : ''}
${mayDecide('edit') ? changing(row, tried) : ''}
${mayDecide('reject') ? form(row, 'reject', '<label for="reason">Why not? The agent is told.</label><textarea id="reason" name="reason" maxlength="2000"></textarea><button class="reject">Reject</button>') : ''}`,
  );
}

function call({ summary, tool, args }: ApprovalRow): string {
  return `<h1>May this run?</h1>
<pre>${marked(summary)}</pre>
<p>${marked(tool)} with these arguments (secrets are masked):</p>
<pre>${marked(JSON.stringify(args, null, 2))}</pre>`;
}

/** True unless the arguments are masked or too long to be sent back, or the approval is an answer to a question. */
export function isChangeable({ form, is_masked, args }: ApprovalRow): boolean {
  return !form && !is_masked && editable(args).length <= MAX_EDITED;
}

function editable(args: ApprovalRow['args']): string {
  return unhideJson(JSON.stringify(args, null, 2));
}

function changing(row: ApprovalRow, tried: DeciderView['tried']): string {
  if (row.form) return '';
  if (!isChangeable(row))
    return `<p>To change it before it runs: <code>tempoclaw approve ${marked(row.id)} --args '{…}'</code></p>`;
  const wrong = tried ? `<p role="alert">Nothing was decided: ${marked(tried.problem)}</p>` : '';
  const area = `${wrong}<label for="args">The arguments to run instead, in JSON. They are checked as the agent’s are.</label><textarea id="args" name="args" rows="8" spellcheck="false">
${escapeHtml(tried?.args ?? editable(row.args))}</textarea><button class="approve">Run it so</button>`;
  return `<details${tried ? ' open' : ''}><summary>Change it before it runs</summary>${form(row, 'edit', area)}</details>`;
}

/** A question of an MCP server. Anyone may have written its words, so no link is made of them. */
function question({ server, message, url, prompt }: McpForm): string {
  const open =
    url === undefined
      ? ''
      : `<p>It wants you to open this address, and to send when it is done:</p><pre>${marked(url)}</pre>`;
  const requested = prompt ? `<pre>${marked(promptLines(prompt).join('\n'))}</pre>` : '';
  return `<h1>The MCP server ${marked(server)} asks</h1><pre>${marked(message)}</pre>${requested}${open}`;
}

/** The server chose the field's contents; only the person can send them. */
function input(field: FormField): string {
  const { name, title, description, type, required, options } = field;
  const id = escapeHtml(`field:${name}`);
  const more = description === undefined ? '' : `<br><small>${marked(description)}</small>`;
  const label = `<label for="${id}">${marked(title)}${required ? ' *' : ''}${more}</label>`;
  const request = `id="${id}" name="${id}"${required && type !== 'boolean' ? ' required' : ''}`;
  return `<p>${label}${options ? selectOf(field, request) : lineOf(field, request)}</p>`;
}

function selectOf({ type, required, options = [], default: standard }: FormField, requested: string): string {
  const isList = type === 'choices';
  const chosen = Array.isArray(standard) ? standard : [standard];
  const shown = options.map(({ value, title }) => {
    const mark = chosen.includes(value) ? ' selected' : '';
    return `<option value="${escapeHtml(value)}"${mark}>${marked(title)}</option>`;
  });
  const none = required || isList ? '' : '<option value=""></option>';
  return `<select ${requested}${isList ? ' multiple' : ''}>${none}${shown.join('')}</select>`;
}

function lineOf({ type, format, default: standard }: FormField, request: string): string {
  if (type === 'boolean')
    return `<input type="checkbox" value="true" ${request}${standard === true ? ' checked' : ''}>`;
  const value = standard === undefined ? '' : ` value="${escapeHtml(String(standard))}"`;
  if (type !== 'string') return `<input type="number" step="any" ${request}${value}>`;
  return `<input type="${(format && INPUTS[format]) ?? 'text'}" ${request}${value}>`;
}

const INPUTS: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' };

/** The page that shows an approval's state and which call it is for, when nothing can be decided any more. */
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

function form({ digest }: ApprovalRow, decision: LinkDecision, inner: string): string {
  return `<form method="post"><input type="hidden" name="decision" value="${decision}"><input type="hidden" name="digest" value="${escapeHtml(digest)}">${inner}</form>`;
}

export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex, nofollow"><title>${escapeHtml(title)} · TempoClaw</title><style>${STYLE}</style></head><body><main>
${body}
</main></body></html>`;
}

/** Shows text of any origin as it is. Characters that would hide or reorder it are shown as their codes. */
function marked(text: string): string {
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
