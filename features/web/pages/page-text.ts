/** Converts what an address returned into the text that a mode requests. */
import { decodeText, kindOf } from './decode-text.ts';
import { layOutJson } from './lay-out-json.ts';
import { readApart, type Reading, ReadingProblem } from './read-apart.ts';
import type { HtmlReading } from './read-html.ts';

export const PAGE_MODES = ['markdown', 'text', 'html', 'json'] as const;
export type PageMode = (typeof PAGE_MODES)[number];

export interface Answered {
  /** The address after redirects. */
  readonly url: string;
  /** The type without parameters, in lower case. */
  readonly type: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

export interface PageText {
  readonly text: string;
  /** What the reader should know about how the text was made. */
  readonly notes: readonly string[];
}

/** From the best to the most reliable. */
const READINGS: Readonly<Record<'markdown' | 'text', readonly HtmlReading[]>> = {
  markdown: ['article', 'simple', 'text'],
  text: ['text'],
};

/** Never throws for the page's contents. `read` throws ReadingProblem for a page that it cannot read. */
export async function pageText(
  answer: Answered,
  mode: PageMode,
  signal: AbortSignal,
  read: typeof readApart = readApart,
): Promise<PageText> {
  const { bytes, contentType, type, url } = answer;
  const kind = kindOf(contentType, bytes);
  const attempt = (job: Reading): Promise<Attempted> => attempted(() => read(job, signal));
  if (kind === 'binary')
    return textResult(
      '',
      `binary: ${bytes.length} bytes of ${type || 'an unknown type'}, which are not shown`,
    );
  if (kind === 'pdf') return pdfText(bytes, attempt);
  const text = decodeText(bytes, contentType);
  if (mode === 'json') return jsonText(text);
  if (kind !== 'html' || mode === 'html') return textResult(text);
  const problems: string[] = [];
  for (const how of READINGS[mode]) {
    const { text: found, problem } = await attempt({ how, html: text, url });
    if (found !== undefined)
      return textResult(found, ...problems.slice(0, 1).map((one) => `read as ${how}: ${one}`));
    problems.push(problem);
  }
  return textResult('', `the page cannot be read (${problems.at(-1)}); mode html gives it as it came`);
}

async function pdfText(bytes: Uint8Array, attempt: (job: Reading) => Promise<Attempted>): Promise<PageText> {
  const { text, problem } = await attempt({ how: 'pdf', bytes });
  return text === undefined
    ? textResult('', `the PDF of ${bytes.length} bytes cannot be read: ${problem}`)
    : textResult(text);
}

type Attempted =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly text?: undefined; readonly problem: string };

async function attempted(read: () => Promise<string>): Promise<Attempted> {
  try {
    return { text: await read() };
  } catch (error) {
    if (!(error instanceof ReadingProblem)) throw error;
    // The message may quote the page.
    return { problem: error.message.replace(/[^\w .,:()-]/g, '').slice(0, 100) };
  }
}

function jsonText(text: string): PageText {
  try {
    JSON.parse(text);
  } catch {
    return textResult(text, 'it is no JSON; here as it came');
  }
  return textResult(layOutJson(text));
}

function textResult(text: string, ...notes: readonly string[]): PageText {
  return { text, notes };
}
