/**
 * The page behind an approval link. It shows exactly and harmlessly what will run, with buttons. It has no script and
 * loads nothing from elsewhere, and viewing it has no effect.
 */
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import { approvalFacts } from './contract.ts';
import type { FormField, McpForm } from '#domain/form.ts';
import { promptLines } from '#domain/model/sampling.ts';
import type { LinkDecision } from './schema.ts';
import { escapeHtml, marked, page } from '#api/server/html-page.ts';
import { unhideJson } from '#domain/text/hidden-text.ts';

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
${mayDecide('approve') && row.form?.login !== 'program' ? form(row, 'approve', `${(row.form?.fields ?? []).map(input).join('')}<button class="approve">${agreeing(row)}</button>`) : ''}
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

function agreeing({ form }: ApprovalRow): string {
  if (form?.login) return 'Log in';
  return form ? 'Send' : 'Approve';
}

/** The page that leads to the server's login. */
export function loginPage(server: string, url: string): string {
  return page(
    'Log in',
    `<h1>Log in at ${marked(server)}</h1>
<p><a href="${escapeHtml(url)}" rel="noreferrer">Go to its login</a>. It works once, for ten minutes. The agent goes on by itself when you have logged in.</p>`,
  );
}

/** A question of an MCP server. Anyone may have written its words, so no link is made of them. */
function question({ server, message, url, prompt, login }: McpForm): string {
  if (login) return `<h1>Log in for ${marked(server)}</h1><pre>${marked(message)}</pre>`;
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

function form({ digest }: ApprovalRow, decision: LinkDecision, inner: string): string {
  return `<form method="post"><input type="hidden" name="decision" value="${decision}"><input type="hidden" name="digest" value="${escapeHtml(digest)}">${inner}</form>`;
}
