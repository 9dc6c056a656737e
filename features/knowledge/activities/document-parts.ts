/**
 * Combines the pieces of a document into the parts that a model reads at once, so that a change elsewhere leaves a part
 * unchanged.
 */
import type { Chunk } from '#features/memory/index.ts';
import { createHash } from 'node:crypto';

export interface DocumentPart {
  /** Identifies the part. */
  readonly digest: Buffer;
  /** Its first line in the document, from 1. */
  readonly from: number;
  /** Headings above it. */
  readonly heading: string;
  /** Lines in order; `at` counts from `from`, which is 0. */
  readonly lines: readonly { readonly at: number; readonly text: string }[];
}

/** Characters: a part may end after MIN, at a piece whose own text decides that, and ends at MAX in any case. */
const MIN = 2_000;
const MAX = 5_000;
/** One of this many pieces ends a part. */
const ENDS = 3;

/** `chunks` are pieces of whole lines, in order (chunkText). */
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
