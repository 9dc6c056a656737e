/** What a client of OpenAI's protocols sends, whichever protocol it speaks. */
import { createHash } from 'node:crypto';
import { openingText } from '#api/opening-text.ts';
import type { SentFile } from '#api/sent-files.ts';
import { Failure } from '#domain/errors.ts';
import type { ClientTool } from '#domain/schema/client-tool.ts';

export type ClientMessage =
  | { readonly role: 'user'; readonly text: string; readonly files: readonly SentFile[] }
  | { readonly role: 'assistant'; readonly text: string }
  /** The result of a call of one of the client's tools; `call` is the id of its approval. */
  | { readonly role: 'tool'; readonly call: string; readonly text: string }
  | {
      readonly role: 'decision';
      readonly approval: string;
      readonly approve: boolean;
      readonly reason?: string;
    };

export interface Conversation {
  readonly agent: string;
  /** Of the system and of developers: they begin a new session. */
  readonly instructions: string;
  readonly messages: readonly ClientMessage[];
  readonly tools: readonly ClientTool[];
  readonly user?: string | undefined;
}

export interface NewPart {
  /** Up to the last answer. */
  readonly before: readonly ClientMessage[];
  readonly text: string;
  readonly files: readonly SentFile[];
  readonly results: readonly Extract<ClientMessage, { role: 'tool' }>[];
  readonly decisions: readonly Extract<ClientMessage, { role: 'decision' }>[];
}

/** Throws InvalidInput when nothing is new. Calls are answers without text, which come before their results. */
export function newPart(messages: readonly ClientMessage[]): NewPart {
  const last = messages.findLastIndex((one) => one.role === 'assistant' && one.text.trim() !== '');
  const added = messages.slice(last + 1);
  const spoken = added.slice(added.findLastIndex(({ role }) => role !== 'user') + 1);
  const part = {
    before: messages.slice(0, last + 1),
    text: spoken.flatMap((one) => ('text' in one ? [one.text] : [])).join('\n\n'),
    files: spoken.flatMap(filesOf),
    results: added.filter((one) => one.role === 'tool'),
    decisions: added.filter((one) => one.role === 'decision'),
  };
  if (part.text.trim() === '' && part.files.length + part.results.length + part.decisions.length === 0)
    throw new Failure('InvalidInput', 'The last message must be one of the user or the result of a tool');
  return part;
}

/** Identifies a conversation by its messages, for this caller and agent. */
export function digestOf(owner: string, agent: string, messages: readonly ClientMessage[]): Buffer {
  const spoken = messages.flatMap((one) => {
    const files = filesOf(one).map(nameOf);
    return 'text' in one && (one.text.trim() || files.length > 0)
      ? [[one.role, one.text.trim(), ...files]]
      : [];
  });
  return createHash('sha256')
    .update(JSON.stringify([owner, agent, spoken]))
    .digest();
}

function filesOf(message: ClientMessage): readonly SentFile[] {
  return message.role === 'user' ? message.files : [];
}

function nameOf(file: SentFile): string {
  return 'artifact' in file ? file.artifact : createHash('sha256').update(file.bytes).digest('hex');
}

/** The first message of a session, with the instructions and the messages that it does not have. Their files are named. */
export function firstText({ instructions }: Conversation, { before, text }: NewPart): string {
  return openingText(
    instructions,
    before.flatMap((one) =>
      'text' in one
        ? [{ role: one.role, text: [one.text, ...filesOf(one).map(() => '[file]')].join('\n') }]
        : [],
    ),
    text,
  );
}
