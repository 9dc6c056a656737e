/** What a server answered, as text for a model: texts as they are, all else in a few words. */
import type { CallToolResult, ContentBlock, ImageContent } from '@modelcontextprotocol/client';
import { cleanOutsideText } from '#domain/hidden-text.ts';
import { IMAGE_BYTES, MAX_IMAGES } from '#domain/image.ts';
import { mapTexts } from '#domain/storable-text.ts';

/** Characters: more than a model reads, kept whole beside the result. */
const MAX = 1_000_000;

/** `hide`: takes out what the server was given; before the text is cut, which could leave half of it. */
export function resultText(
  { content, structuredContent }: CallToolResult,
  hide: (text: string) => string,
): string {
  const parts = content.map(partText);
  // Servers give it as a text too, for clients that know no other; not all of them.
  if (structuredContent !== undefined && !parts.some(isJson))
    // Hidden in its texts as well: JSON writes some characters otherwise.
    parts.push(JSON.stringify(mapTexts(structuredContent, hide)));
  const text = hide(parts.join('\n'));
  return text.length <= MAX
    ? text
    : `${text.slice(0, MAX)}\n[the rest of ${text.length} characters is left out]`;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

function partText(part: ContentBlock): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type}, ${part.mimeType}, ${bytesOf(part.data)} bytes]`;
    case 'resource_link':
      return `[resource ${part.name}: ${part.uri}]`;
    default:
      return 'text' in part.resource
        ? `[resource ${part.resource.uri}]\n${part.resource.text}`
        : `[resource ${part.resource.uri}, ${bytesOf(part.resource.blob)} bytes]`;
  }
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}

/** For models that see; more than these are not even decoded. None that has in its bytes what `hide` hides. */
export function resultImages({ content }: CallToolResult, hide: (text: string) => string): Uint8Array[] {
  return content
    .filter((part) => part.type === 'image' && bytesOf(part.data) <= IMAGE_BYTES)
    .slice(0, MAX_IMAGES)
    .map((part) => Buffer.from((part as ImageContent).data, 'base64'))
    .filter((bytes) => {
      const text = cleanOutsideText(bytes.toString('latin1'));
      return hide(text) === text;
    });
}
