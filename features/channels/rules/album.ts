/** Pictures that were sent together come as separate updates, in any order; they become one message. */
import { MAX_ATTACHMENTS } from '#domain/files/attachment.ts';
import type { AlbumPart, WaitingMessage } from '../contract.ts';

/** Seconds from the last part until no further part is expected. */
export const ALBUM_SECONDS = 2;

/** Adds the part once, however often it comes; returns undefined if the album is over. */
export function withPart(waiting: WaitingMessage, part: AlbumPart): WaitingMessage | undefined {
  const { album } = waiting;
  if (album?.parts.some(({ id }) => id === part.id)) return waiting;
  if (!album || album.isOver) return undefined;
  return { ...waiting, album: { parts: [...album.parts, part] } };
}

/** One part addresses the bot for all. */
export function isAddressedAlbum(parts: readonly AlbumPart[]): boolean {
  return parts.some(({ isAddressed }) => isAddressed);
}

/**
 * Combines the parts into the message, in the order of their sending. If nobody addressed the bot, it has neither words
 * nor files.
 */
export function gatheredAlbum(waiting: WaitingMessage): WaitingMessage {
  const { album } = waiting;
  if (!album || album.isOver) return waiting;
  const parts = album.parts.toSorted((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
  const taken = isAddressedAlbum(parts) ? parts : [];
  const files = taken.flatMap((part) => part.files);
  return {
    ...waiting,
    text: taken
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join('\n'),
    files: files.slice(0, MAX_ATTACHMENTS),
    left: Math.max(0, files.length - MAX_ATTACHMENTS),
    album: { parts: parts.map((part) => ({ ...part, text: '', files: [] })), isOver: true },
  };
}
