/** What a person sends from an editor: the text of a message, and its files. */
import { type ContentBlock, type EmbeddedResource, RequestError } from '@agentclientprotocol/sdk';
import { type FilePart, readFilePart, type SentFile } from '#api/sent-files.ts';
import { Failure } from '#domain/errors.ts';
import { MAX_ATTACHMENTS } from '#domain/files/attachment.ts';

export interface EditorPrompt {
  /** Never blank. */
  readonly text: string;
  readonly files: readonly SentFile[];
}

/** Characters of a file that are in the message; a longer one is attached to it. */
const MAX_EMBEDDED = 65_536;
/** A message has words, also one that is nothing but files. */
const FILES_ALONE = '[file]';

/** `ownFiles`: before the id of an artifact in its address. @throws RequestError invalidParams */
export function readPrompt(blocks: readonly ContentBlock[], ownFiles: string): EditorPrompt {
  const parts = blocks.map((block) => readBlock(block, ownFiles));
  const files = parts.filter((part) => typeof part !== 'string');
  const text = parts.filter((part) => typeof part === 'string').join('\n');
  if (files.length > MAX_ATTACHMENTS)
    throw refused(`a prompt may have ${MAX_ATTACHMENTS} files, not ${files.length}`);
  if (text.trim() === '' && files.length === 0) throw refused('the prompt has no text and no file');
  return { text: text.trim() === '' ? FILES_ALONE : text, files };
}

function readBlock(block: ContentBlock, ownFiles: string): string | SentFile {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return readFile({ part: 'image', data: block.data, type: block.mimeType, name: nameOf(block.uri) });
    case 'audio':
      return readFile({ part: 'audio', data: block.data, type: block.mimeType });
    case 'resource':
      return readResource(block.resource);
    case 'resource_link': {
      const { uri, name, title, mimeType: type } = block;
      const url = uri.startsWith(ownFiles) ? uri.slice(ownFiles.length) : uri;
      const isFile = url !== uri || /^(?:data|artifact):/.test(url);
      return isFile ? readFile({ part: 'resource_link', url, type, name }) : `[${title ?? name}](${uri})`;
    }
    default:
      throw refused(`${String((block as { type: unknown }).type).slice(0, 64)}: no such content is taken`);
  }
}

function readResource(resource: EmbeddedResource['resource']): string | SentFile {
  const { uri, mimeType: type } = resource;
  const name = nameOf(uri);
  if ('blob' in resource) return readFile({ part: 'resource', data: resource.blob, type, name });
  if (resource.text.length <= MAX_EMBEDDED) return `\n<file uri="${uri}">\n${resource.text}\n</file>\n`;
  // Types of code have many names, and its bytes show only that it is text.
  return { bytes: Buffer.from(resource.text), type: 'text/plain', name };
}

function readFile(part: FilePart): SentFile {
  try {
    return readFilePart(part);
  } catch (error) {
    throw error instanceof Failure ? refused(error.message) : error;
  }
}

/** The last part of an address; undefined when it has none. */
function nameOf(uri: string | null | undefined): string | undefined {
  const last =
    URL.parse(uri ?? '')
      ?.pathname.split('/')
      .at(-1) ?? '';
  try {
    return decodeURIComponent(last) || undefined;
  } catch {
    return last;
  }
}

function refused(words: string): RequestError {
  return RequestError.invalidParams(undefined, words);
}
