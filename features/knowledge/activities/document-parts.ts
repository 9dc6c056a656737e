/** Puts the pieces of a document together to the parts that a model reads at once, so that a change elsewhere leaves a part as it is. */
import type { Chunk } from '#features/memory/index.ts';
import { createHash } from 'node:crypto';

export interface DocumentPart {
  /** That it is known by. */
  readonly digest: Buffer;
  /** Its first line in the document, from 1. */
  readonly from: number;
  /** Headings above it. */
  readonly heading: string;
  /** In order; `at` counts from `from`, which is 0. */
  readonly lines: readonly { readonly at: number; readonly text: string }[];
}

/** Characters: a part ends at MIN where a piece says so by its own text, and at MAX in any case. */
const MIN = 2_000;
const MAX = 5_000;
/** One piece in so many ends a part. */
const ENDS = 3;

/** `chunks`: pieces of whole lines, in order (chunkText). */
export function partsOf(chunks: readonly Omit<Chunk, 'to'>[]): readonly DocumentPart[] {
  const parts: DocumentPart[] = [];
  let open: (typeof chunks)[number][] = [];
  let size = 0;
  for (const [index, chunk] of chunks.entries()) {
    open.push(chunk);
    size += chunk.text.length;
    const mayEnd = size >= MIN && chunk.text.length % ENDS === 0;
    if (!mayEnd && size < MAX && index < chunks.length - 1) continue;
    parts.push(partOf(open));
    open = [];
    size = 0;
  }
  return parts;
}

function partOf(chunks: readonly Omit<Chunk, 'to'>[]): DocumentPart {
  const { from = 1, heading = '' } = chunks[0] ?? {};
  const lines = chunks.flatMap((chunk) =>
    chunk.text.split('\n').map((text, line) => ({ at: chunk.from + line - from, text })),
  );
  const digest = createHash('sha256')
    .update(JSON.stringify([heading, lines]))
    .digest();
  return { digest, from, heading, lines };
}
