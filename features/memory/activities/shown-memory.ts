import { randomUUID } from 'node:crypto';
import { markOutside } from '#domain/text/outside-text.ts';

/** Formats a part of a document for a model, marked if it is external (SC-4). */
export function shownMemory(
  { path, outside }: { readonly path: string; readonly outside: boolean },
  text: string,
): string {
  return outside ? markOutside({ id: randomUUID(), source: path, text }) : text;
}
