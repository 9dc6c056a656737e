/**
 * Parses the output of a command in a container: separates the engine's two streams, and removes the runner's trailer
 * (box-scripts.ts) from the second.
 */
import { readTrailer, type Trailer, TRAILER_BYTES } from './box-scripts.ts';

/** Bytes of a frame's header: the stream and its length. */
const HEAD = 8;
const STDERR = 2;

export interface BoxOutput {
  take(chunk: Buffer): void;
  /** Emits bytes that were held back as a possible trailer and are none. */
  flush(): void;
  /** The runner's report of how its command ended. */
  readonly found: Trailer | undefined;
}

/** `give` receives the stream, 1 (stdout) or 2 (stderr), and pieces of its output. */
export function createBoxOutput(nonce: string, give: (stream: number, chunk: Buffer) => void): BoxOutput {
  let head = Buffer.alloc(0);
  let stream = 0;
  let remaining = 0;
  let kept: Buffer = Buffer.alloc(0);
  let found: Trailer | undefined;

  const takeStderr = (chunk: Buffer): void => {
    const all = Buffer.concat([kept, chunk]);
    const trailer = readTrailer(all.subarray(-TRAILER_BYTES), nonce);
    if (trailer) found = trailer;
    const end = trailer ? all.length - trailer.bytes : Math.max(0, all.length - TRAILER_BYTES);
    if (end > 0) give(STDERR, all.subarray(0, end));
    kept = trailer ? Buffer.alloc(0) : Buffer.from(all.subarray(end));
  };

  return {
    get found() {
      return found;
    },
    take(chunk) {
      for (let rest = chunk; rest.length > 0; ) {
        if (remaining === 0) {
          const more = rest.subarray(0, HEAD - head.length);
          head = Buffer.concat([head, more]);
          rest = rest.subarray(more.length);
          if (head.length < HEAD) return;
          stream = head[0] as number;
          remaining = head.readUInt32BE(4);
          head = Buffer.alloc(0);
          continue;
        }
        const piece = rest.subarray(0, remaining);
        remaining -= piece.length;
        rest = rest.subarray(piece.length);
        if (stream === STDERR) takeStderr(piece);
        else give(stream, piece);
      }
    },
    flush() {
      if (kept.length > 0) give(STDERR, kept);
      kept = Buffer.alloc(0);
    },
  };
}
