/** Artifacts: files that people and models pass about, named `artifact:ID` wherever a tool takes a file. */

/** Bytes of one. */
export const ARTIFACT_BYTES = 50_000_000;
/** Bytes of all of a tenant's together. */
export const ARTIFACTS_BYTES = 20_000_000_000;
/** Of one message. */
export const MAX_ATTACHMENTS = 10;

export const ARTIFACT_REF = /^artifact:(art_[0-9a-f]{32})$/;

/** As a message's row tells of it. */
export interface Attachment {
  readonly artifact: string;
  readonly name: string | null;
  readonly type: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  /** Pixels, of an image that models may be shown. */
  readonly width: number | null;
  readonly height: number | null;
}

/** What stands in the message's text for it, for the model to name it to tools. */
export function attachmentLine({ artifact, name, type, size }: Attachment): string {
  return `[attached: artifact:${artifact}${name === null ? '' : ` ${name}`}, ${type}, ${size} bytes]`;
}

const NAME_CHARACTERS = 100;

/** The last part of a path, on one line and without what could end a header or a line; null when nothing is left. */
export function plainFilename(value: string | undefined): string | null {
  const last = (value ?? '').split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .toWellFormed()
    .replace(/[\p{C}"[\]]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
  return [...plain].slice(0, NAME_CHARACTERS).join('') || null;
}
