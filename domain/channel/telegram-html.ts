/** Markdown as models write it in the HTML that Telegram takes: few tags, no headings, lists or tables, everything else escaped. */
import { lexer, type Token, type Tokens } from 'marked';

/** Valid for any text. A link shows where it leads to when its words do not. */
export function telegramHtml(markdown: string): string {
  return lexer(markdown, { gfm: true, breaks: true })
    .map((token) => block(token))
    .join('')
    .trim();
}

function block(token: Token): string {
  switch (token.type) {
    case 'heading':
      return `<b>${inline(token.tokens)}</b>\n\n`;
    case 'paragraph':
      return `${inline(token.tokens)}\n\n`;
    case 'code':
      return `${fence(token as Tokens.Code)}\n\n`;
    case 'blockquote':
      return `<blockquote>${blocks(token.tokens).trim()}</blockquote>\n\n`;
    case 'list':
      return `${list(token as Tokens.List)}\n\n`;
    case 'table':
      return `<pre>${escapeHtml(token.raw.trim())}</pre>\n\n`;
    case 'hr':
      return '———\n\n';
    case 'space':
    case 'def':
      return '';
    default:
      return token.type === 'text' ? `${inline([token])}\n` : `${escapeHtml(token.raw)}\n`;
  }
}

function blocks(tokens: readonly Token[] | undefined): string {
  return (tokens ?? []).map((token) => block(token)).join('');
}

function fence({ text, lang }: Tokens.Code): string {
  const language = /^[\w+#-]{1,30}/.exec(lang ?? '')?.[0];
  const code = escapeHtml(text);
  return language ? `<pre><code class="language-${language}">${code}</code></pre>` : `<pre>${code}</pre>`;
}

function list({ items, ordered, start }: Tokens.List): string {
  return items
    .map((item, index) => {
      const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
      const mark = ordered ? `${Number(start || 1) + index}. ` : '• ';
      const body = blocks(item.tokens.filter(({ type }) => type !== 'checkbox'));
      return (
        mark +
        box +
        body
          .trim()
          .replaceAll(/\n+(?!$)/g, '\n')
          .replaceAll(/\n(?=[•\d])/g, '\n  ')
      );
    })
    .join('\n');
}

function inline(tokens: readonly Token[] | undefined): string {
  return (tokens ?? []).map((token) => span(token)).join('');
}

function span(token: Token): string {
  switch (token.type) {
    case 'strong':
      return `<b>${inline(token.tokens)}</b>`;
    case 'em':
      return `<i>${inline(token.tokens)}</i>`;
    case 'del':
      return `<s>${inline(token.tokens)}</s>`;
    case 'codespan':
      return `<code>${escapeHtml(token.text)}</code>`;
    case 'br':
      return '\n';
    case 'link':
      return link(token.href, inline(token.tokens), token.text);
    case 'image':
      return link(token.href, escapeHtml(token.text), token.text);
    case 'escape':
      return escapeHtml(token.text);
    case 'text':
      return 'tokens' in token && token.tokens ? inline(token.tokens) : escapeHtml(token.text);
    default:
      return escapeHtml(token.raw);
  }
}

/** Words that are an address themselves may not lead to another. */
function link(href: string, shown: string, words: string): string {
  if (!/^https?:\/\//i.test(href)) return shown;
  if (words === href) return escapeHtml(href);
  return `${shown} (${escapeHtml(href)})`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
