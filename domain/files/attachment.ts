/** Files that a message attaches. Each is stored elsewhere, and named `artifact:ID`. */

/** Greatest number of attachments of one message. */
export const MAX_ATTACHMENTS = 10;

export const ARTIFACT_REF = /^artifact:(art_[0-9a-f]{32})$/;
/** The same in a message or a tool that reads a file, where the id alone will do. */
export const ATTACHMENT_REF = /^(?:artifact:)?art_[0-9a-f]{32}$/;

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

/** A file that a message brings. */
export interface FileBytes {
  readonly bytes: Buffer;
  /** The media type that its sender states. */
  readonly type?: string | undefined;
  readonly name?: string | undefined;
}

/** The line in the message's text that describes the attachment, so that the model can name it to tools. */
export function attachmentLine({ artifact, name, type, size }: Attachment): string {
  return `[attached: artifact:${artifact}${name === null ? '' : ` ${name}`}, ${type}, ${size} bytes]`;
}
