/** Artifacts are files that people and models exchange. Tools that take a file accept the name `artifact:ID`. */

/** Greatest size of one artifact in bytes. */
export const ARTIFACT_BYTES = 50_000_000;
/** Greatest total size of a tenant's artifacts in bytes. */
export const ARTIFACTS_BYTES = 20_000_000_000;

const NAME_CHARACTERS = 100;

/**
 * Returns the last part of a path on one line, without characters that could end a header or a line; null when nothing
 * remains.
 */
export function plainFilename(value: string | undefined): string | null {
  const last = (value ?? '').split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .toWellFormed()
    .replace(/[\p{C}"[\]]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
  return [...plain].slice(0, NAME_CHARACTERS).join('') || null;
}
