/** What a server answered, as text for a model: texts as they are, all else in a few words. */
import type { CallToolResult, ContentBlock, ImageContent } from '@modelcontextprotocol/client';
import { IMAGE_BYTES, MOST_IMAGES } from '#domain/image.ts';

/** Characters: more than a model reads, kept whole beside the result. */
const MOST = 1_000_000;

export function resultText({ content, structuredContent }: CallToolResult): string {
  const parts = content.map(partText);
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const text = parts.join('\n');
  return text.length <= MOST
    ? text
    : `${text.slice(0, MOST)}\n[the rest of ${text.length} characters is left out]`;
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
    .slice(0, MOST_IMAGES)
    .map((part) => Buffer.from((part as ImageContent).data, 'base64'))
    .filter((bytes) => hide(bytes.toString('latin1')) === bytes.toString('latin1'));
}
