/**
 * The transcripts that this worker read last, so that a step reads only new rows: the thousandth step costs as much as
 * the first (DU-3). A session has one writer at a time and its rows never change, so a prefix stays valid. A summary
 * made on another worker is recognized by its position.
 */
import type { Attachment } from '#domain/files/attachment.ts';
import { MAX_IMAGES, type StoredImage } from '#domain/model/image.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import type { StepBasis, TranscriptRow } from '#store/turns/step-basis.ts';

export interface CachedRow {
  readonly position: number;
  readonly turn: string;
  readonly role: 'user' | 'assistant';
  /** Whose turn a user's row is in; undefined for nobody's. */
  readonly user: string | undefined;
  /** One row is one or two messages: an answer, and the results of its calls. */
  readonly messages: readonly ChatMessage[];
  readonly characters: number;
  /** Digests of the row's calls, joined; the loop guard compares them. */
  readonly callDigests: string | undefined;
  readonly invoke: TranscriptRow['invoke'];
}

export interface Transcript {
  readonly summary: string | null;
  readonly summaryPosition: number;
  readonly rows: readonly CachedRow[];
}

/** The part of a session's transcript that is in memory. */
export interface KnownTranscript {
  readonly position: number;
  readonly summaryPosition: number;
  /** Identifies the session among those with this key (StepBasis.since); undefined when nothing is known. */
  readonly since: string | undefined;
}

export const NOTHING_KNOWN: KnownTranscript = { position: 0, summaryPosition: 0, since: undefined };

export interface TranscriptCache {
  /** The known part; the store has the rest. */
  known(tenant: string, session: string): KnownTranscript;
  /** The whole transcript: the known part of this session and the rows that the store returned. */
  extend(tenant: string, session: string, after: number, basis: StepBasis): Transcript;
}

interface Entry {
  since: string;
  summary: string | null;
  summaryPosition: number;
  rows: CachedRow[];
  characters: number;
}

/** `limit`: characters kept for all sessions; the least recently used is dropped first. */
export function createTranscriptCache(limit: number): TranscriptCache {
  const entries = new Map<string, Entry>();
  let held = 0;

  function drop(key: string): void {
    held -= entries.get(key)?.characters ?? 0;
    entries.delete(key);
  }

  return {
    known(tenant, session) {
      const entry = entries.get(`${tenant}/${session}`);
      if (!entry) return NOTHING_KNOWN;
      const { rows, summaryPosition, since } = entry;
      return { position: rows.at(-1)?.position ?? 0, summaryPosition, since };
    },

    extend(tenant, session, after, basis) {
      const key = `${tenant}/${session}`;
      const cached = entries.get(key);
      // A concurrent step has dropped or extended it since the store was queried: only the returned rows are certain.
      const before =
        cached?.rows.filter((row) => row.position <= after && row.position > basis.summary_position) ?? [];
      const rows = [...before, ...basis.transcript.map(readRow)];
      const entry: Entry = {
        since: basis.since,
        summary:
          basis.summary ?? (cached?.summaryPosition === basis.summary_position ? cached.summary : null),
        summaryPosition: basis.summary_position,
        rows,
        characters: rows.reduce((sum, row) => sum + row.characters, 0),
      };
      drop(key);
      // A row with unfinished calls may still change; then nothing is kept.
      const settled = basis.transcript.every((row) =>
        (row.calls ?? []).every((call) => call.state === 'done'),
      );
      if (settled && entry.characters <= limit) {
        entries.set(key, entry);
        held += entry.characters;
      }
      for (const oldest of entries.keys()) {
        if (held <= limit) break;
        drop(oldest);
      }
      return entry;
    },
  };
}

function readRow(row: TranscriptRow): CachedRow {
  const messages = messagesOf(row);
  return {
    position: row.position,
    turn: row.turn,
    role: row.role,
    user: row.user,
    messages,
    characters: messages.reduce((sum, message) => sum + charactersOf(message), 0),
    callDigests: row.calls?.map((call) => call.digest).join(' '),
    invoke: row.invoke,
  };
}

function messagesOf(row: TranscriptRow): ChatMessage[] {
  if (row.role === 'user') {
    const images = (row.attachments ?? []).flatMap(asImage).slice(0, MAX_IMAGES);
    return [
      { role: 'user', text: row.text, ...(images.length > 0 ? { id: `at.${row.position}`, images } : {}) },
    ];
  }
  const calls = row.calls ?? [];
  const answer: ChatMessage = {
    role: 'assistant',
    text: row.text,
    calls: calls.map((call) => ({ id: call.id, name: call.name, args: call.args })),
  };
  if (calls.length === 0) return [answer];
  const results = calls.map((call) => ({
    callId: call.id,
    name: call.name,
    ok: call.ok ?? false,
    text: call.result ?? 'OutcomeUnknown: no result was recorded.',
    ...(call.images ? { images: call.images } : {}),
  }));
  return [answer, { role: 'tool', results }];
}

function asImage({ type, width, height, digest, size }: Attachment): StoredImage[] {
  return width && height ? [{ type: type as StoredImage['type'], width, height, digest, size }] : [];
}

function charactersOf(message: ChatMessage): number {
  if (message.role === 'user') return message.text.length;
  if (message.role === 'tool')
    return message.results.reduce((sum, result) => sum + result.text.length + 40, 0);
  return message.calls.reduce(
    (sum, call) => sum + JSON.stringify(call.args).length + 60,
    message.text.length,
  );
}
