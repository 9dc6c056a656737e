/** The text and the files of a message's content, which may be in parts. */
import { readFilePart, type SentFile } from '#api/sent-files.ts';
import { Failure } from '#domain/errors.ts';
import { isRecord } from '#domain/outside-value.ts';

type Part = { readonly type: string; readonly text?: string | undefined; readonly [field: string]: unknown };
type Content = string | readonly Part[] | null | undefined;

const TEXTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text', 'refusal', 'summary_text']);

/** Throws Unprocessable for pictures, sounds and files. */
export function partsText(content: Content): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map(({ type, text = '' }) => {
      if (TEXTS.has(type)) return text;
      throw new Failure('Unprocessable', `${type.slice(0, 64)}: only messages of the user may have files`);
    })
    .join('\n');
}

/** What a user says. Throws Unprocessable for a part that is neither text nor a file. */
export function partsOfUser(content: Content): {
  readonly text: string;
  readonly files: readonly SentFile[];
} {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  return {
    text: partsText(parts.filter(({ type }) => TEXTS.has(type))),
    files: parts.filter(({ type }) => !TEXTS.has(type)).map(fileOf),
  };
}

function fileOf({ type: part, ...fields }: Part): SentFile {
  const { image_url, input_audio, file } = fields;
  if (part === 'image_url')
    return readFilePart({ part, url: isRecord(image_url) ? image_url['url'] : image_url });
  if (part === 'input_image') return readFilePart({ part, url: image_url, id: fields['file_id'] });
  if (part === 'input_audio' && isRecord(input_audio))
    return readFilePart({ part, data: input_audio['data'], type: `audio/${String(input_audio['format'])}` });
  if (part !== 'file' && part !== 'input_file')
    throw new Failure('Unprocessable', `${part.slice(0, 64)}: there is no such part of a message`);
  const named = isRecord(file) ? file : fields;
  return readFilePart({
    part,
    url: named['file_url'],
    data: named['file_data'],
    id: named['file_id'],
    name: named['filename'],
  });
}
