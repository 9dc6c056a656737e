/** The chain as it is stored, exported and verified (DU-11). It needs nothing but Node. */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

export const FORMAT = 'tempoclaw-evidence';
export const VERSION = 1;
export const EXPORT_TYPE = 'application/x-ndjson';

/** What the hash of an entry covers; digests in hex, `at` as ISO 8601 with milliseconds. */
export interface Link {
  readonly seq: number;
  /**
   * `call`, `approval`, `decision`, `policy`, `revision`: the content is that row. `forgotten`: the content of other
   * entries was forgotten, or is past its retention. `lost`: a row was gone before it was read.
   */
  readonly kind: string;
  readonly digest: string;
  readonly previous: string;
  readonly at: string;
}

/** The previous hash of the first entry. */
export const START = '0'.repeat(64);

export function hashLink({ seq, kind, digest, previous, at }: Link): string {
  return sha256(JSON.stringify([previous, seq, kind, digest, at]));
}

/** `salt` in hex. */
export function digestOf(salt: string, content: string): string {
  return sha256(Buffer.concat([Buffer.from(salt, 'hex'), Buffer.from(content)]));
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

/** The end of a chain, as it is signed and anchored. */
export interface Head {
  readonly tenant: string;
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
  /** Base64. */
  readonly signature: string;
  /** Ed25519 as SPKI, DER, in base64. */
  readonly public_key: string;
}

export function signedText({ tenant, seq, hash, at }: Omit<Head, 'signature' | 'public_key'>): Buffer {
  return Buffer.from(JSON.stringify([FORMAT, VERSION, tenant, seq, hash, at]));
}

/** False for a key or signature that cannot be read, too. */
export function isSigned(head: Head): boolean {
  try {
    return verify(null, signedText(head), readKey(head.public_key), Buffer.from(head.signature, 'base64'));
  } catch {
    return false;
  }
}

function readKey(base64: string): KeyObject {
  return createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
}

/** Entries by their numbers, both inclusive. */
export type Range = readonly [first: number, last: number];

/** The content of an entry `forgotten`. */
export interface Removal {
  readonly seqs: readonly Range[];
  /** The request to forget, or `retention`. */
  readonly why: string;
}

/** `seqs` in ascending order. */
export function rangesOf(seqs: readonly number[]): readonly Range[] {
  const ranges: [number, number][] = [];
  for (const seq of seqs) {
    const last = ranges.at(-1);
    if (last && last[1] === seq - 1) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  return ranges;
}

/** The lines of an export: a header, the entries, rows that are in no chain, the end. */
export interface HeaderLine {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly tenant: string;
  readonly public_key: string | null;
}

/** `salt` and `content` are null when they are gone. */
export interface EntryLine extends Link {
  readonly hash: string;
  readonly salt: string | null;
  readonly content: string | null;
}

/** A final row of the ledger without an entry. */
export interface UnchainedLine {
  readonly unchained: { readonly kind: string; readonly subject: string };
}

export interface EndLine {
  readonly entries: number;
  readonly head: Head | null;
}
