/**
 * Verifies an exported chain line by line: no database, no API, no key of ours. What is needed in memory are the numbers
 * of entries without content, and the anchored heads.
 */
import {
  digestOf,
  type EndLine,
  type EntryLine,
  FORMAT,
  type Head,
  type HeaderLine,
  hashLink,
  isSigned,
  type Range,
  type Removal,
  START,
  type UnchainedLine,
  VERSION,
} from './chain.ts';

/**
 * `edited`: an entry, or the row that it covers, is another. `deleted`: an entry or its row is gone and nothing of the
 * chain says why. `reordered`: an entry is at another place. `truncated`: the end is missing. `unchained`: a row of the
 * ledger has no entry. `forged`: something that TempoClaw did not sign.
 */
export type FaultKind = 'edited' | 'deleted' | 'reordered' | 'truncated' | 'unchained' | 'forged';

export interface Fault {
  readonly fault: FaultKind;
  /** Null when it belongs to no entry. */
  readonly seq: number | null;
  /** The kind and the id of what the entry covers, as far as they are known. */
  readonly kind: string | null;
  readonly subject: string | null;
  readonly reason: string;
}

export interface Verdict {
  readonly ok: boolean;
  readonly tenant: string | null;
  readonly public_key: string | null;
  readonly entries: number;
  /** Entries whose content is gone and of which a signed entry says so, by why. */
  readonly forgotten: Readonly<Record<string, number>>;
  /** How many anchored heads are in the chain. */
  readonly anchored: number;
  readonly head: Head | null;
  /** The first fault. */
  readonly fault: Fault | null;
}

export interface Expected {
  /** Heads that were kept outside. */
  readonly anchors?: readonly Head[] | undefined;
  /** The public key, in base64. */
  readonly key?: string | undefined;
}

class Found extends Error {
  readonly fault: Fault;

  constructor(fault: FaultKind, reason: string, at: Partial<Fault> = {}) {
    super(reason);
    this.fault = { fault, seq: null, kind: null, subject: null, reason, ...at };
  }
}

/** Never throws for what the lines contain. */
export async function verifyEvidence(
  lines: AsyncIterable<string> | Iterable<string>,
  expected: Expected = {},
): Promise<Verdict> {
  const chain = createChain(expected);
  let fault: Fault | null = null;
  try {
    for await (const line of lines) if (line !== '') chain.read(line);
    chain.end();
  } catch (error) {
    if (!(error instanceof Found)) throw error;
    ({ fault } = error);
  }
  return { ok: fault === null, ...chain.facts(), fault };
}

function createChain({ anchors = [], key }: Expected) {
  let header: HeaderLine | undefined;
  let last: Pick<EntryLine, 'seq' | 'hash'> = { seq: 0, hash: START };
  let ended: EndLine | undefined;
  let unchained: UnchainedLine['unchained'] | undefined;
  let heads: AnchoredHeads | undefined;
  const removals = createRemovals();

  function readHeader(value: Partial<HeaderLine>): void {
    if (value.format !== FORMAT || value.version !== VERSION || typeof value.tenant !== 'string')
      throw new Found('forged', `the file is no export of evidence in version ${VERSION}`);
    header = value as HeaderLine;
    if (key !== undefined && header.public_key !== key)
      throw new Found('forged', 'the chain is signed with another key than the expected one');
    heads = anchoredHeads(anchors, header);
  }

  function readEntry(entry: EntryLine): void {
    const at = placeOf(entry);
    if (entry.seq > last.seq + 1)
      throw new Found('deleted', `entry ${last.seq + 1} is not there`, { seq: last.seq + 1 });
    if (entry.seq <= last.seq) throw new Found('reordered', `it comes after entry ${last.seq}`, at);
    if (hashLink(entry) !== entry.hash) throw changedLink(entry, last.seq);
    if (entry.previous !== last.hash)
      throw new Found('forged', `it does not follow entry ${last.seq} as that is`, at);
    heads?.check(entry);
    readContent(entry, at);
    last = entry;
  }

  function readContent({ seq, kind, digest, salt, content }: EntryLine, at: Partial<Fault>): void {
    if (content === null) {
      if (salt !== null) throw new Found('deleted', 'what it covers is gone', at);
      return removals.miss(seq);
    }
    if (salt === null || digestOf(salt, content) !== digest)
      throw new Found('edited', 'what it covers is not as it was recorded', at);
    if (kind === 'lost')
      throw new Found('deleted', 'the row was gone before it could be recorded', {
        ...at,
        ...lostOf(content),
      });
    if (kind === 'forgotten') removals.explain(seq, parse(content) ?? {});
  }

  return {
    read(line: string): void {
      const value = parse(line);
      if (!value || ended)
        throw new Found('forged', 'a line of the file cannot be read', { seq: last.seq + 1 });
      if (!header) readHeader(value);
      else if (isEntry(value)) readEntry(value);
      else if ('unchained' in value) unchained ??= value['unchained'] as UnchainedLine['unchained'];
      else if ('entries' in value) ended = value as unknown as EndLine;
      else throw new Found('forged', 'a line of the file is no entry', { seq: last.seq + 1 });
    },
    end(): void {
      if (!header) throw new Found('forged', 'the file is no export of evidence');
      if (!ended) throw new Found('truncated', 'the file ends before its last line', { seq: last.seq + 1 });
      checkHead(header, ended.head, last);
      if (heads && heads.newest > last.seq)
        throw new Found('truncated', `an anchored head is entry ${heads.newest}`, { seq: last.seq + 1 });
      removals.check();
      if (unchained) throw new Found('unchained', 'the ledger has a row that is not in the chain', unchained);
    },
    facts: () => ({
      tenant: header?.tenant ?? null,
      public_key: header?.public_key ?? null,
      entries: last.seq,
      forgotten: removals.counts,
      anchored: heads?.count ?? 0,
      head: ended?.head ?? null,
    }),
  };
}

function checkHead(
  { tenant, public_key }: HeaderLine,
  head: Head | null,
  last: Pick<EntryLine, 'seq' | 'hash'>,
): void {
  if (!head) {
    if (last.seq > 0) throw new Found('forged', 'no head of the chain is there', { seq: last.seq });
    return;
  }
  if (head.seq > last.seq)
    throw new Found('truncated', `the signed head is entry ${head.seq}`, { seq: last.seq + 1 });
  if (head.seq < last.seq) throw new Found('forged', 'it is after the signed head', { seq: head.seq + 1 });
  if (head.tenant !== tenant || head.public_key !== public_key || !isSigned(head))
    throw new Found('forged', 'the head has no valid signature', { seq: head.seq });
  if (head.hash !== last.hash) throw new Found('forged', 'the head is of another entry', { seq: head.seq });
}

/** The entry was changed, or stands at another place than its own. */
function changedLink(entry: EntryLine, last: number): Found {
  for (let seq = 1; seq <= last + MAX_MOVE; seq += 1)
    if (seq !== entry.seq && hashLink({ ...entry, seq }) === entry.hash)
      return new Found('reordered', `it was entry ${seq}`, placeOf(entry));
  return new Found('edited', 'the entry is not as it was written', placeOf(entry));
}

interface AnchoredHeads {
  readonly newest: number;
  /** How many agree. */
  readonly count: number;
  check(entry: EntryLine): void;
}

/** Those of the tenant; a file may have others. A number that was anchored twice must be the same both times. */
function anchoredHeads(anchors: readonly Head[], { tenant, public_key }: HeaderLine): AnchoredHeads {
  const hashes = new Map<number, Set<string>>();
  let newest = 0;
  let count = 0;
  for (const head of anchors) {
    if (head.tenant !== tenant) continue;
    const at = { seq: head.seq };
    if (!isSigned(head)) throw new Found('forged', 'an anchored head has no valid signature', at);
    if (head.public_key !== public_key)
      throw new Found('forged', 'an anchored head is signed with another key', at);
    hashes.set(head.seq, (hashes.get(head.seq) ?? new Set()).add(head.hash));
    newest = Math.max(newest, head.seq);
  }
  return {
    newest,
    get count() {
      return count;
    },
    check(entry) {
      const found = hashes.get(entry.seq);
      if (!found) return;
      if (found.size > 1 || !found.has(entry.hash))
        throw new Found('forged', 'another entry of this number was anchored', placeOf(entry));
      count += 1;
    },
  };
}

/** Entries without content, in order, and what later entries say of them. */
function createRemovals() {
  const missing: [first: number, last: number][] = [];
  const reasons: { readonly range: Range; readonly why: string }[] = [];
  const counts: Record<string, number> = {};
  return {
    counts,
    miss(seq: number): void {
      const end = missing.at(-1);
      if (end && end[1] === seq - 1) end[1] = seq;
      else missing.push([seq, seq]);
    },
    explain(at: number, { seqs, why }: Partial<Removal>): void {
      if (!Array.isArray(seqs) || typeof why !== 'string')
        throw new Found('forged', 'it does not say what was forgotten', { seq: at, kind: 'forgotten' });
      for (const range of seqs as readonly Range[]) if (range[1] < at) reasons.push({ range, why });
    },
    check(): void {
      reasons.sort((one, other) => one.range[0] - other.range[0]);
      let at = 0;
      for (const [from, to] of missing)
        for (let seq = from; seq <= to; seq += 1) {
          while (at < reasons.length && (reasons[at]?.range[1] ?? 0) < seq) at += 1;
          const reason = reasons[at];
          if (!reason || reason.range[0] > seq)
            throw new Found('deleted', 'its content is gone, and nobody was to forget it', { seq });
          counts[reason.why] = (counts[reason.why] ?? 0) + 1;
        }
    },
  };
}

/** How far beyond what was read the place of a moved entry is looked for. */
const MAX_MOVE = 1_000;

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const TEXTS = ['digest', 'previous', 'hash', 'at'] as const;

function isEntry(value: Record<string, unknown>): value is Record<string, unknown> & EntryLine {
  return (
    Number.isSafeInteger(value['seq']) &&
    typeof value['kind'] === 'string' &&
    TEXTS.every((name) => typeof value[name] === 'string') &&
    [value['salt'], value['content']].every((part) => part === null || typeof part === 'string')
  );
}

/** The subject is in the content, where there is one. */
function placeOf({ seq, kind, content }: EntryLine): Partial<Fault> {
  const has = content === null ? undefined : parse(content);
  const id = has?.['id'] ?? has?.['approval'] ?? has?.['agent'];
  return { seq, kind, subject: id === undefined ? null : String(id) };
}

function lostOf(content: string): Partial<Fault> {
  const { kind, subject } = parse(content) ?? {};
  return { kind: String(kind), subject: String(subject) };
}

/** The heads of a file of lines; empty lines, and a last one that a crash has cut, are skipped. */
export function readHeads(text: string): readonly Head[] {
  return text.split('\n').flatMap((line) => {
    const value = parse(line);
    return value && typeof value['seq'] === 'number' && typeof value['hash'] === 'string'
      ? [value as unknown as Head]
      : [];
  });
}
