/** Artifacts are files that people and models exchange. Tools that take a file accept the name `artifact:ID`. */

/** Greatest size of one artifact in bytes. */
export const ARTIFACT_BYTES = 50_000_000;
/** Greatest total size of a tenant's artifacts in bytes. */
export const ARTIFACTS_BYTES = 20_000_000_000;
/** Greatest number of attachments of one message. */
export const MAX_ATTACHMENTS = 10;

export const ARTIFACT_REF = /^artifact:(art_[0-9a-f]{32})$/;

/** An attachment as a message's row describes it. */
export interface Attachment {
  readonly artifact: string;
  readonly name: string | null;
  readonly type: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  /** Pixels of an image that models may see; otherwise null. */
  readonly width: number | null;
  readonly height: number | null;
}

/** The line in the message's text that describes the attachment, so that the model can name it to tools. */
export function attachmentLine({ artifact, name, type, size }: Attachment): string {
  return `[attached: artifact:${artifact}${name === null ? '' : ` ${name}`}, ${type}, ${size} bytes]`;
}

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
