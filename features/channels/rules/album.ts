/** Pictures that were sent together come as updates of their own, in any order: they are one message. */
import { MAX_ATTACHMENTS } from '#domain/artifact.ts';
import type { AlbumPart, WaitingMessage } from '../contract.ts';

/** From the last part that came until no further one is waited for. */
export const ALBUM_SECONDS = 2;

/** With the part, once however often it comes; undefined where the album is over. */
export function withPart(waiting: WaitingMessage, part: AlbumPart): WaitingMessage | undefined {
  const { album } = waiting;
  if (album?.parts.some(({ id }) => id === part.id)) return waiting;
  if (!album || album.isOver) return undefined;
  return { ...waiting, album: { parts: [...album.parts, part] } };
}

/** One part speaks to the bot for all. */
export function isAddressedAlbum(parts: readonly AlbumPart[]): boolean {
  return parts.some(({ isAddressed }) => isAddressed);
}

/** As its message is taken, in the order of its sending. One that nobody addresses to the bot has neither words nor files. */
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
