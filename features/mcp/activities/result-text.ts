/** Turns a server's answer into text for a model: texts stay as they are, everything else becomes a few words. */
import type { CallToolResult, ContentBlock, ImageContent } from '@modelcontextprotocol/client';
import { cleanOutsideText } from '#domain/text/hidden-text.ts';
import { IMAGE_BYTES, MAX_IMAGES } from '#domain/model/image.ts';
import { mapTexts } from '#domain/text/storable-text.ts';

/** Characters: more than a model reads, stored whole beside the result. */
const MAX = 1_000_000;

/** `hide` removes the values that the server got. It runs before the cut, which could leave half of one. */
export function resultText(
  { content, structuredContent }: CallToolResult,
  hide: (text: string) => string,
): string {
  const parts = content.map(partText);
  // Servers, but not all of them, also return it as a text, for clients that know nothing else.
  if (structuredContent !== undefined && !parts.some(isJson))
    // It is also hidden within its texts, because JSON escapes some characters.
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

/**
 * Images for models with vision; more than these are not even decoded. It omits images whose bytes contain what `hide`
 * hides.
 */
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
