/** Reads what MCP servers send as lines within limits: from a process, and from bodies of HTTP answers. */
import { cutMessage } from './cut-message.ts';
import { readableMessage } from './readable-message.ts';

/** Bytes of one message that is read whole. */
const MESSAGE_BYTES = 4 * 1024 * 1024;
/** Bytes of a longer one: a model reads less, and as much is stored beside the result (result-text.ts). */
const HEAD_BYTES = 1024 * 1024;
const TAIL_BYTES = 1024;
/** Bytes of one body, once long messages are cut. */
const BODY_BYTES = 64 * 1024 * 1024;

export interface MessageLines {
  /**
   * Lines that the chunk completes, without line ends. For a long one, the message that says it was cut, or nothing.
   */
  readonly take: (chunk: Uint8Array) => readonly string[];
  /** What follows the last line end. */
  readonly end: () => readonly string[];
  /** Bytes of a line that has no end yet and is too long already; 0 when there is none. */
  readonly tooLong: () => number;
}

/**
 * A line has one message, after `data:` in an event stream; with `isWhole`, the whole input is one. Never holds more
 * than a message.
 */
export function createMessageLines(
  max = MESSAGE_BYTES,
  headBytes = HEAD_BYTES,
  isWhole = false,
): MessageLines {
  let parts: Buffer[] = [];
  let kept = 0;
  let tail = Buffer.alloc(0);
  let bytes = 0;

  function add(part: Buffer): void {
    bytes += part.length;
    if (bytes <= max) {
      parts.push(part);
      return;
    }
    if (kept === 0) {
      parts = [Buffer.concat(parts).subarray(0, headBytes)];
      kept = headBytes;
    }
    tail = Buffer.concat([tail, part.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }

  function line(): readonly string[] {
    const text = Buffer.concat(parts).toString('utf8');
    const [end, length] = [tail.toString('utf8'), bytes];
    const isCut = kept > 0;
    parts = [];
    kept = 0;
    bytes = 0;
    tail = Buffer.alloc(0);
    const field = /^\ufeff?data: ?/.exec(text)?.[0] ?? '';
    if (!isCut) {
      const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
      return [field + readableMessage(whole.slice(field.length))];
    }
    const message = cutMessage(text.slice(field.length).replace(/\ufffd$/, ''), end, length);
    return message ? [field + JSON.stringify(message)] : [];
  }

  return {
    take(chunk) {
      const lines: string[] = [];
      let rest = Buffer.from(chunk);
      for (let at = isWhole ? -1 : rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
        add(rest.subarray(0, at));
        lines.push(...line());
        rest = rest.subarray(at + 1);
      }
      if (rest.length > 0) add(rest);
      return lines;
    },
    end: () => (bytes > 0 ? line() : []),
    tooLong: () => (kept > 0 ? bytes : 0),
  };
}

/** Works as `ask`, with bodies in which long messages are cut. */
export function withinBounds(ask: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await ask(input, init);
    const type = response.headers.get('content-type') ?? '';
    if (!response.body || !/json|event-stream/.test(type)) return response;
    const { status, statusText, headers } = response;
    const answer = new Response(response.body.pipeThrough(messageStream(!type.includes('event-stream'))), {
      status,
      statusText,
      headers,
    });
    Object.defineProperty(answer, 'url', { value: response.url });
    return answer;
  };
}

function messageStream(isWhole: boolean): TransformStream<Uint8Array, Uint8Array> {
  const lines = createMessageLines(MESSAGE_BYTES, HEAD_BYTES, isWhole);
  const encoder = new TextEncoder();
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      for (const line of lines.take(chunk)) {
        const out = encoder.encode(`${line}\n`);
        bytes += out.length;
        if (bytes > BODY_BYTES) throw new Error(`an answer has more than ${BODY_BYTES} bytes`);
        controller.enqueue(out);
      }
    },
    flush(controller) {
      for (const line of lines.end()) controller.enqueue(encoder.encode(line));
    },
  });
}
