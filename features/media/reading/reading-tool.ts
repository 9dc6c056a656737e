/** What the tools that read media have in common: how a file is named, and how its contents are returned. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { markOutside } from '#domain/text/outside-text.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';
import { EgressError } from '@tempoclaw/egress';
import { egressResult } from '#activities/egress/egress-result.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';

const ref = z.string().min(1).max(8_192).optional();

export const mediaFields = {
  prompt: z.string().min(1).max(20_000).describe('What is asked about it'),
  media_id: ref.describe('The file: artifact:ID, a path of the workspace, or an address; or by path or url'),
  path: ref.describe('The same'),
  url: ref.describe('The same'),
};

type Named = { readonly [Name in 'media_id' | 'path' | 'url']?: string | undefined };

/** What the tools that read media have in common. */
export const READING = { group: 'media_read', replay: 'readonly', outside: true } as const;

/** Characters of a text that is sent to a model with a question. */
const MAX_CHARACTERS = 400_000;

/** Puts the text of a file below the question about it. */
export function promptWith(requested: string, text: string): string {
  const cut = text.slice(0, MAX_CHARACTERS).toWellFormed();
  return `${requested}\n${cut}${cut.length < text.length ? '\n[it goes on]' : ''}`;
}

/** Returns null when it is not exactly one. */
export function oneRef({ media_id, path, url }: Named): string | null {
  const [first, ...others] = [media_id, path, url].filter((one) => one !== undefined);
  return others.length === 0 ? (first ?? null) : null;
}

export const NAME_ONE = { path: [], message: 'name one file, by media_id, path or url' };

/** Bytes of UTF-8: with its markers, a text stays within the part of a result that the model sees (EX-5). */
const SHOWN_BYTES = 60_000;

/** Returns as much from `offset` as can be shown, marked as external, with how to read on. */
export function outsideResult(
  source: string,
  text: string,
  notes: readonly string[],
  offset = 0,
): ToolResult {
  if (offset > 0 && offset >= text.length)
    return toolError('InvalidArgs', `offset ${offset} is past the end: there are ${text.length} characters`);
  const end = offset + new TextEncoder().encodeInto(text.slice(offset), new Uint8Array(SHOWN_BYTES)).read;
  const messages = [...notes];
  if (end < text.length)
    messages.push(`characters ${offset} to ${end} of ${text.length}; read on with offset=${end}`);
  const marked = markOutside({ id: randomUUID(), source, text: text.slice(offset, end) });
  return { ok: true, text: messages.length > 0 ? `${marked}\n[${messages.join('; ')}]` : marked };
}

/** Reports a file that cannot be fetched, read or sent to a model. */
export function withMediaProblems(work: () => Promise<ToolResult>): Promise<ToolResult> {
  return withFileProblems(async () => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof EgressError) return egressResult(error);
      throw error;
    }
  });
}
