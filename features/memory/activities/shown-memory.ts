import { randomUUID } from 'node:crypto';
import { markOutside } from '#domain/outside-text.ts';

/** A part of a document as a model reads it: marked where it came from outside (SC-4). */
export function shownMemory(
  { path, outside }: { readonly path: string; readonly outside: boolean },
  text: string,
): string {
  return outside ? markOutside({ id: randomUUID(), source: path, text }) : text;
}
