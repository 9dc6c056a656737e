/** Writes the HTML that Telegram accepts: few tags, no headings, lists or tables, everything else escaped. */
import { type Dialect, renderMarkdown } from '../rules/render-markdown.ts';

const TELEGRAM: Dialect = {
  text: escapeHtml,
  strong: (shown) => `<b>${shown}</b>`,
  emphasis: (shown) => `<i>${shown}</i>`,
  deleted: (shown) => `<s>${shown}</s>`,
  code: (text) => `<code>${escapeHtml(text)}</code>`,
  fence: (text, language) =>
    language
      ? `<pre><code class="language-${language}">${escapeHtml(text)}</code></pre>`
      : `<pre>${escapeHtml(text)}</pre>`,
  heading: (shown) => `<b>${shown}</b>`,
  // Telegram has no quote within a quote.
  quote: (shown) => `<blockquote>${shown.replaceAll(/<\/?blockquote>/g, '')}</blockquote>`,
  bullet: '• ',
  // The target is visible before the link is opened.
  link: (address, shown) => `${shown} (${escapeHtml(address)})`,
  address: escapeHtml,
};

/** Valid for any text. */
export function telegramHtml(markdown: string): string {
  return renderMarkdown(markdown, TELEGRAM);
}

/** How many characters people see of what `telegramHtml` made: Telegram's limit counts these. */
export function shownLength(html: string): number {
  return html.replaceAll(/<[^>]*>/g, '').replaceAll(/&\w+;/g, '&').length;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
