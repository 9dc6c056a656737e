/**
 * Converts HTML to Markdown or text: what people see of it, with absolute links. Runs in a thread of its own
 * (page-thread.ts).
 */
import { Defuddle } from 'defuddle/node';
import { cleanOutsideText } from '#domain/text/hidden-text.ts';
import { MAX_ELEMENTS, type PageDocument, type PageElement, parsePage } from './page-document.ts';
import { pageMarkdown } from './page-markdown.ts';
import { arrangeTables } from './page-tables.ts';
import { removeHidden } from './remove-hidden.ts';

/** `article` is the main text of the page, and `simple` all of it; both are Markdown. */
export type HtmlReading = 'article' | 'simple' | 'text';

export async function readHtml(how: HtmlReading, html: string, url: string): Promise<string> {
  const document = parsePage(cleanOutsideText(html).replaceAll('\u200d', JOINER), url);
  const named = document.querySelector('title')?.textContent.trim() ?? '';
  removeHidden(document);
  arrangeTables(document);
  // The article reader removes the first heading if it is the page's only title.
  const title = named || (document.querySelector('h1')?.textContent ?? '');
  const text = how === 'text' ? plainText(document.body) : await markdownOf(how, document, title, url);
  return titled(title, text).replaceAll(JOINER, '\u200d');
}

async function markdownOf(
  how: 'article' | 'simple',
  document: PageDocument,
  title: string,
  url: string,
): Promise<string> {
  if ([...document.querySelectorAll('*')].length > MAX_ELEMENTS) throw new Error('it has too many elements');
  if (how === 'simple') return pageMarkdown(document.body);
  const seen = document.body.textContent.trim().length;
  const parts = ownParts(document.body, seen < SHORT ? ANY_PARTS : 'table,dl,pre');
  const paragraphs = ownParts(document.body, 'p', LONG);
  // The article reader changes what it reads.
  const body = document.body.cloneNode(true);
  const article = await readArticle(document, url);
  // Link targets do not count.
  const letters = lettersOf(title) + lettersOf(article.replace(/\]\([^)\s]*\)/g, ''));
  // An index or a dashboard has no article, and what the article reader omits may be what was wanted.
  const isWhole =
    (article.length >= 500 || seen <= article.length * 2) &&
    parts.every((part) => letters.includes(part)) &&
    paragraphs.filter((part) => !letters.includes(part)).length <= paragraphs.length * MAX_LOST;
  return isWhole ? article : pageMarkdown(body);
}

/**
 * Replaces the joiner of emoji, which the article reader would remove; no external text contains it (cleanOutsideText).
 */
const JOINER = '\ue000';

/** Characters of a page below which everything but the text around its own is kept. */
const SHORT = 4_000;
const ANY_PARTS = 'table,dl,pre,p,li,h1,h2,h3,h4,h5,h6,blockquote,figcaption,summary,legend,label,button';

/** Parts of the page itself, and letters of each by which it is recognized in an article. */
const MAX_PARTS = 200;
const KNOWN_BY = 40;

function ownParts(body: PageElement, selector: string, longer = 0): readonly string[] {
  return [...body.querySelectorAll(selector)]
    .filter((part) => !part.closest('nav,header,footer,aside'))
    .map((part) => lettersOf(part.textContent))
    .filter((letters) => letters.length > longer)
    .slice(0, MAX_PARTS)
    .map((letters) => letters.slice(0, KNOWN_BY));
}

/** Letters of a paragraph with substance. */
const LONG = 100;
/** The share of such paragraphs that an article may omit: comments, and other texts on the page. */
const MAX_LOST = 0.25;

/** Removes signs of Markdown, spaces, and lines between cells. */
function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '');
}

async function readArticle(document: PageDocument, url: string): Promise<string> {
  const { content } = await Defuddle(document as never, url, {
    markdown: true,
    // The readers for some sites would request further addresses without egress.
    useAsync: false,
    fetch: () => Promise.reject(new Error('a page is read without asking further')),
  });
  return content.trim();
}

function titled(value: string, text: string): string {
  const title = value.replace(/\s+/g, ' ').trim().slice(0, 300);
  return title === '' || text.slice(0, 400).includes(title) ? text : `# ${title}\n\n${text}`;
}

const BLOCKS =
  'address,article,aside,blockquote,dd,details,div,dl,dt,figcaption,figure,footer,form,h1,h2,h3,h4,h5,h6,header,hr,li,main,nav,ol,p,pre,section,summary,table,tr,ul';
/** Stand for the end of a line, and for a significant space, until the page's own white space is collapsed. */
const BREAK = '\u0001';
const SPACE = '\u0002';

function plainText(body: PageElement): string {
  for (const pre of body.querySelectorAll('pre'))
    pre.textContent = pre.textContent.replace(/\r?\n/g, BREAK).replaceAll(' ', SPACE);
  for (const line of body.querySelectorAll('br')) line.append(BREAK);
  for (const block of body.querySelectorAll(BLOCKS)) block.append(BREAK);
  for (const cell of body.querySelectorAll('td,th')) cell.append(' | ');
  return body.textContent
    .replace(/\s+/g, ' ')
    .replace(/ ?\u0001 ?/g, '\n')
    .replaceAll(SPACE, ' ')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** The results on a page of html.duckduckgo.com; undefined when it shows a captcha. */
export function readDuckDuckGo(html: string, url: string): readonly FoundPage[] | undefined {
  const document = parsePage(html, url);
  if (document.querySelector('.anomaly-modal__modal,#challenge-form')) return undefined;
  return [...document.querySelectorAll('.result:not(.result--ad)')].slice(0, 50).flatMap((result) => {
    const link = result.querySelector('a.result__a');
    const href = link?.getAttribute('href');
    if (!link || !href) return [];
    const snippet = result.querySelector('.result__snippet')?.textContent ?? '';
    return [{ title: link.textContent, url: new URL(href).searchParams.get('uddg') ?? href, snippet }];
  });
}
