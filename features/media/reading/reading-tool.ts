/** What the tools that read media have in common: how a file is named, and how what was read is given. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { markOutside } from '#domain/outside-text.ts';
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

/** Characters of a text that a model is asked about. */
const ASKED_CHARACTERS = 400_000;

/** The text of a file, below what is asked about it. */
export function askedAbout(requested: string, text: string): string {
  const cut = text.slice(0, ASKED_CHARACTERS).toWellFormed();
  return `${requested}\n${cut}${cut.length < text.length ? '\n[it goes on]' : ''}`;
}

/** Null when it is not exactly one. */
export function oneRef({ media_id, path, url }: Named): string | null {
  const [first, ...others] = [media_id, path, url].filter((one) => one !== undefined);
  return others.length === 0 ? (first ?? null) : null;
}

export const NAME_ONE = { path: [], message: 'name one file, by media_id, path or url' };

/** Bytes of UTF-8: with its markers a text stays within what the model is shown of a result (EX-5). */
const SHOWN_BYTES = 60_000;

/** From `offset` on as much as can be shown, marked as from outside, with how to read on. */
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

/** A file that cannot be had, read or asked about is told. */
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
