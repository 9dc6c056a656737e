/** What a person sends from an editor, as the text of a message. */
import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk';

/** Throws invalidParams for blocks that the agent does not say it takes. */
export function promptText(blocks: readonly ContentBlock[]): string {
  const text = blocks.map(blockText).join('\n');
  if (text.trim() === '') throw RequestError.invalidParams(undefined, 'the prompt has no text');
  return text;
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.title ?? block.name}](${block.uri})`;
    case 'resource':
      if ('text' in block.resource)
        return `\n<file uri="${block.resource.uri}">\n${block.resource.text}\n</file>\n`;
      throw RequestError.invalidParams(undefined, 'only files with text are passed on');
    default:
      throw RequestError.invalidParams(undefined, `${block.type}: only text and files are passed on`);
  }
}
