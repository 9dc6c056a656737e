/** Takes the engine's two streams out of the one they come in: frames of eight bytes of head, stream and length in it. */

const HEAD = 8;

/** `give` gets stream 1 (stdout) or 2 (stderr) and pieces of what was written to it. */
export function createDemux(give: (stream: number, chunk: Buffer) => void): { take(chunk: Buffer): void } {
  let head = Buffer.alloc(0);
  let stream = 0;
  let left = 0;
  return {
    take(chunk) {
      let rest = chunk;
      while (rest.length > 0) {
        if (left === 0) {
          const more = rest.subarray(0, HEAD - head.length);
          head = Buffer.concat([head, more]);
          rest = rest.subarray(more.length);
          if (head.length < HEAD) return;
          stream = head[0] as number;
          left = head.readUInt32BE(4);
          head = Buffer.alloc(0);
          continue;
        }
        const piece = rest.subarray(0, left);
        left -= piece.length;
        rest = rest.subarray(piece.length);
        give(stream, piece);
      }
    },
  };
}
