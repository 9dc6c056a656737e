/**
 * Renders models' Markdown in the dialect of a chat service: one walk over the parser's tokens, with a few functions
 * for each dialect.
 */
import { lexer, type Token, type Tokens } from 'marked';

export interface Dialect {
  /** Words without any markup. */
  readonly text: (words: string) => string;
  readonly strong: (shown: string) => string;
  readonly emphasis: (shown: string) => string;
  readonly deleted: (shown: string) => string;
  readonly code: (text: string) => string;
  readonly fence: (text: string, language: string) => string;
  readonly heading: (shown: string, depth: number) => string;
  readonly quote: (shown: string) => string;
  readonly bullet: string;
  /** An http(s) address with words that are not an address themselves. */
  readonly link: (address: string, shown: string) => string;
  readonly address: (address: string) => string;
}

/**
 * Matches a line with many quotes and lists within each other, which is no writing. The parser needs a second for a
 * thousand of them. A row of one mark is a line across the page.
 */
const DEEP =
  /^(?![ \t]*(?:(?:-[ \t]*)+|(?:\*[ \t]*)+)$)(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){16}/m;

/**
 * Valid for any text. HTML, and Markdown that is nested very deeply, is shown as it is written. Words that look like an
 * address must not lead to another one.
 */
export function renderMarkdown(markdown: string, dialect: Dialect): string {
  if (DEEP.test(markdown)) return dialect.text(markdown).trim();
  try {
    return blocks(lexer(markdown, { gfm: true, breaks: true }), dialect, '\n\n').trim();
  } catch (error) {
    // Thousands of nested marks are deeper than the stack.
    if (!(error instanceof RangeError)) throw error;
    return dialect.text(markdown).trim();
  }
}

function blocks(tokens: readonly Token[] | undefined, dialect: Dialect, between: string, depth = 0): string {
  return (tokens ?? [])
    .map((token) => block(token, dialect, depth))
    .filter((shown) => shown.trim() !== '')
    .join(between);
}

function block(token: Token, dialect: Dialect, depth: number): string {
  switch (token.type) {
    case 'heading':
      return dialect.heading(spans(token.tokens, dialect), (token as Tokens.Heading).depth);
    case 'paragraph':
      return spans(token.tokens, dialect);
    case 'code':
      return dialect.fence(token.text, /^[\w+#-]{1,30}/.exec((token as Tokens.Code).lang ?? '')?.[0] ?? '');
    case 'blockquote':
      return dialect.quote(blocks(token.tokens, dialect, '\n\n'));
    case 'list':
      return list(token as Tokens.List, dialect, depth);
    // No service has tables, so their columns are shown as code as they were written.
    case 'table':
      return dialect.fence(token.raw.trim(), '');
    case 'hr':
      return '———';
    case 'def':
      return footnote(token as Tokens.Def, dialect);
    case 'space':
    case 'checkbox':
      return '';
    default:
      return token.type === 'text' ? span(token, dialect) : dialect.text(token.raw.trimEnd());
  }
}

/** The parser reads `^1` as the name of a link with this address. Other addresses are shown where their links are. */
function footnote({ tag, href, raw }: Tokens.Def, dialect: Dialect): string {
  if (!tag.startsWith('^')) return '';
  return IS_ADDRESS.test(href)
    ? dialect.text(`[${tag}]: `) + dialect.address(href)
    : dialect.text(raw.trimEnd());
}

function list({ items, ordered, start }: Tokens.List, dialect: Dialect, depth: number): string {
  return items
    .map((item, index) => {
      const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
      const mark = ordered ? `${Number(start) + index}. ` : dialect.bullet;
      return '  '.repeat(depth) + mark + box + blocks(item.tokens, dialect, '\n', depth + 1);
    })
    .join('\n');
}

function spans(tokens: readonly Token[] | undefined, dialect: Dialect): string {
  return (tokens ?? []).map((token) => span(token, dialect)).join('');
}

function span(token: Token, dialect: Dialect): string {
  switch (token.type) {
    case 'strong':
      return dialect.strong(spans(token.tokens, dialect));
    case 'em':
      return dialect.emphasis(spans(token.tokens, dialect));
    case 'del':
      return dialect.deleted(spans(token.tokens, dialect));
    case 'codespan':
      return dialect.code(token.text);
    case 'br':
      return '\n';
    case 'link':
      if (/^\[\^[^\]]+\]$/.test(token.raw)) return dialect.text(token.raw);
      return link(token.href, spans(token.tokens, dialect), tokenText(token), dialect);
    case 'image':
      return link(token.href, dialect.text(token.text), token.text, dialect);
    case 'escape':
      return dialect.text(token.text);
    case 'text':
      return token.tokens ? spans(token.tokens, dialect) : dialect.text(withoutEntities(token.text));
    default:
      return dialect.text(token.raw);
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Decodes the entities that models write, as Markdown does outside of code; others stay. */
function withoutEntities(text: string): string {
  return text.replaceAll(
    /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));/g,
    (found, ...groups) => {
      const [name, decimal, hex] = groups as (string | undefined)[];
      if (name !== undefined) return ENTITIES[name] ?? found;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      const isShown =
        code >= 32 &&
        code <= 0x10_ffff &&
        !(code >= 0x7f && code < 0xa0) &&
        !(code >= 0xd800 && code < 0xe000);
      return isShown ? String.fromCodePoint(code) : found;
    },
  );
}

/** The token's text as people read it, without marks. */
function tokenText(token: Token): string {
  const { tokens } = token as Tokens.Generic;
  if (tokens && tokens.length > 0) return tokens.map(tokenText).join('');
  return 'text' in token ? String(token.text) : token.raw;
}

/** Matches what a reader may mistake for the name of a site. */
const LIKE_ADDRESS = /[a-z][\w+.-]*:\/\/|www\.|[\p{L}\p{N}-]\.\p{L}{2,}/iu;

const IS_ADDRESS = /^https?:\/\/[^\s<>]+$/i;

function link(href: string, shown: string, words: string, dialect: Dialect): string {
  if (!IS_ADDRESS.test(href)) return shown;
  // The parser puts `http://` before `www.`.
  if (words === href || `http://${words}` === href || words.trim() === '') return dialect.address(href);
  return LIKE_ADDRESS.test(
    words
      .normalize('NFKC')
      .replaceAll(/[\p{Cf}*_~`\\]/gu, '')
      .replaceAll(/&#?\w{1,10};/g, '.'),
  )
    ? `${shown} (${dialect.address(href)})`
    : dialect.link(href, shown);
}

/** Three marks would end a block of code. A zero-width character separates them, and they look the same. */
export function withoutFences(text: string): string {
  return text.replaceAll(/`(?=``)/g, '`\u200b');
}
