/** Reads a line typed into a chat: a message, or a command after a slash. */

export type ChatLine =
  | { readonly kind: 'message' | 'steer'; readonly text: string }
  | { readonly kind: 'unknown'; readonly command: string }
  | { readonly kind: 'nothing' | 'stop' | 'quit' | 'help' };

/** `//x` is the message `/x`. A word with further slashes (`/etc/hosts`) is no command. */
export function readChatLine(line: string): ChatLine {
  const text = line.trim();
  if (text === '') return { kind: 'nothing' };
  if (text.startsWith('//')) return { kind: 'message', text: text.slice(1) };
  const match = /^(\/[a-z?]+)(?:\s+([\s\S]*))?$/i.exec(text);
  if (!match) return { kind: 'message', text };
  const [, command = '', rest = ''] = match;
  switch (command.toLowerCase()) {
    case '/stop':
      return { kind: 'stop' };
    case '/steer':
      return rest === '' ? { kind: 'help' } : { kind: 'steer', text: rest };
    case '/quit':
    case '/exit':
      return { kind: 'quit' };
    case '/help':
    case '/?':
      return { kind: 'help' };
    default:
      return { kind: 'unknown', command };
  }
}
