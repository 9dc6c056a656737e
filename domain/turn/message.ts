/** The transcript: what a model reads and writes, in the form that Postgres stores and providers translate. */

import type { StoredImage } from '../model/image.ts';

/** A tool call that a model requested. `id` is ours (`call_…`) and unique over all sessions. */
export interface RequestedCall {
  readonly id: string;
  /** The name as the model wrote it, in whichever dialect it was offered. */
  readonly name: string;
  /** Parsed JSON; `{}` when the model sent something that is not an object (then `invalid` says so). */
  readonly args: Readonly<Record<string, unknown>>;
  /** Why the arguments could not be read as JSON; absent when they could. */
  readonly invalid?: string;
}

export interface CallResult {
  readonly callId: string;
  readonly name: string;
  readonly ok: boolean;
  /** What the model reads; scrubbed and cut (EX-5). */
  readonly text: string;
  readonly images?: readonly StoredImage[];
}

export type ChatMessage =
  | {
      readonly role: 'user';
      readonly text: string;
      /** Id by which the bytes of its images are found; present when the message has images. */
      readonly id?: string;
      readonly images?: readonly StoredImage[];
    }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly RequestedCall[] }
  | { readonly role: 'tool'; readonly results: readonly CallResult[] };
