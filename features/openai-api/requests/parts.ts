/** The text of a message's content, which may be in parts. */
import { Failure } from '#domain/errors.ts';

type Part = { readonly type: string; readonly text?: string | undefined };

const TEXTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text', 'refusal', 'summary_text']);

/** Throws Unprocessable for pictures, sounds and files. */
export function partsText(content: string | readonly Part[] | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map(({ type, text = '' }) => {
      if (TEXTS.has(type)) return text;
      throw new Failure(
        'Unprocessable',
        `${type.slice(0, 64)}: only text is passed on; upload files with POST /v1/artifacts and name them as artifact:ID`,
      );
    })
    .join('\n');
}
