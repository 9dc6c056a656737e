/** HTML as Markdown or text: what people see of it, its links absolute. Runs in a thread of its own (page-thread.ts). */
import { Defuddle } from 'defuddle/node';
import { NodeHtmlMarkdown } from 'node-html-markdown';
import { MAX_ELEMENTS, type PageDocument, type PageElement, parsePage } from './page-document.ts';
import { removeHidden } from './remove-hidden.ts';

/** `article`: the main text of the page; `simple`: all of it; both Markdown. */
export type HtmlReading = 'article' | 'simple' | 'text';

export async function readHtml(how: HtmlReading, html: string, url: string): Promise<string> {
  const document = parsePage(html, url);
  removeHidden(document);
  // An article's reader takes the first heading out where it is the page's only title.
  const title = document.title.trim() || (document.querySelector('h1')?.textContent ?? '');
  if (how === 'text') return titled(title, plainText(document.body));
  if ([...document.querySelectorAll('*')].length > MAX_ELEMENTS) throw new Error('it has too many elements');
  // The readers change what they read.
  const body = document.body.innerHTML;
  const seen = document.body.textContent.trim().length;
  const article = how === 'article' ? await readArticle(document, url) : '';
  // An index or a dashboard has no article.
  const isMissed = article.length < 500 && seen > article.length * 2;
  return titled(title, isMissed || how === 'simple' ? NodeHtmlMarkdown.translate(body).trim() : article);
}

async function readArticle(document: PageDocument, url: string): Promise<string> {
  const { content } = await Defuddle(document as never, url, {
    markdown: true,
    // Some sites' readers would ask further addresses, past the one way out.
    useAsync: false,
    fetch: () => Promise.reject(new Error('a page is read without asking further')),
  });
  return content.trim();
}

function titled(given: string, text: string): string {
  const title = given.replace(/\s+/g, ' ').trim().slice(0, 300);
  return title === '' || text.slice(0, 400).includes(title) ? text : `# ${title}\n\n${text}`;
}

const BLOCKS =
  'address,article,aside,blockquote,dd,details,div,dl,dt,figcaption,figure,footer,form,h1,h2,h3,h4,h5,h6,header,hr,li,main,nav,ol,p,pre,section,summary,table,tr,ul';
/** Stand for the end of a line, and for a space that counts, until the page's own white space is folded. */
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

/** The results on a page of html.duckduckgo.com; undefined when it asks for proof of a person. */
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
