/** Keeps the last bytes of stderr back until it is known whether they are the runner's own last words. */
import { readTrailer, type Trailer, TRAILER_BYTES } from './box-scripts.ts';

export interface TrailerReader {
  take(chunk: Buffer): void;
  /** Gives what was kept back and is no trailer. */
  flush(): void;
  readonly found: Trailer | undefined;
}

export function createTrailerReader(nonce: string, give: (chunk: Buffer) => void): TrailerReader {
  let kept: Buffer = Buffer.alloc(0);
  let found: TrailerReader['found'];
  return {
    get found() {
      return found;
    },
    take(chunk) {
      const all = Buffer.concat([kept, chunk]);
      const trailer = readTrailer(all.subarray(-TRAILER_BYTES), nonce);
      if (trailer) found = trailer;
      const end = trailer ? all.length - trailer.bytes : Math.max(0, all.length - TRAILER_BYTES);
      if (end > 0) give(all.subarray(0, end));
      kept = trailer ? Buffer.alloc(0) : Buffer.from(all.subarray(end));
    },
    flush() {
      if (kept.length > 0) give(kept);
      kept = Buffer.alloc(0);
    },
  };
}
