/** Scrubs text and arguments before anyone else sees them: rows, history, logs, the model (SC-3). */
import {
  createScrubStream,
  NO_VALUES,
  preview,
  type RegisteredValues,
  scrubJson,
  type ScrubStream,
  scrubText,
} from '@tempoclaw/scrubber';
import type { HeldMessage } from '#domain/turn/turn.ts';

export interface Scrubber {
  text(text: string): string;
  args(args: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** One line of at most `length` characters. */
  preview(text: string, length: number): string;
  /** For a text that arrives in pieces. */
  stream(): ScrubStream;
}

/**
 * Scrubs with the values of one tenant and of the deployment. It resolves at once unless the tenant is new to the
 * process.
 */
export type ScrubberOf = (tenant: string) => Promise<Scrubber>;

/** The dependencies of an activity before the tenant of its call is known. */
export type ForAnyTenant<Deps extends { readonly scrubber: Scrubber }> = Omit<Deps, 'scrubber'> & {
  readonly scrubberOf: ScrubberOf;
};

/** The dependencies of an activity with the scrubber of its call's tenant. */
export async function forTenant<Deps extends { readonly scrubber: Scrubber }>(
  parts: ForAnyTenant<Deps>,
  tenant: string,
): Promise<Deps> {
  const scrubber = await parts.scrubberOf(tenant);
  return { ...parts, scrubber } as unknown as Deps;
}

/** SC-3: scrubs the texts of messages from senders other than our API; those of the API are scrubbed in their rows. */
export function hideTexts(scrubber: Scrubber, messages: readonly HeldMessage[]): readonly HeldMessage[] {
  return messages.map((message) =>
    message.text === undefined ? message : { ...message, text: scrubber.text(message.text) },
  );
}

/** `registered`: values known to be secret (SC-2); others are recognized by their shape or name. */
export function createScrubber(registered: RegisteredValues = NO_VALUES): Scrubber {
  return {
    text: (text) => scrubText(text, registered).text,
    args: (args) => scrubJson<Record<string, unknown>>(args, registered),
    preview: (text, length) => preview(text, { chars: length }, registered),
    stream: () => createScrubStream(registered),
  };
}

/** A file's text as people may see it; other bytes are unchanged. */
export function withoutSecrets(scrubber: Pick<Scrubber, 'text'>, bytes: Buffer): Buffer {
  const text = bytes.toString('utf8');
  if (text.includes('\0') || !Buffer.from(text).equals(bytes)) return bytes;
  return Buffer.from(scrubber.text(text));
}
