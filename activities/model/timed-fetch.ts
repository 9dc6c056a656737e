/**
 * The fetch that model providers are reached with: limits on waiting and size, and no redirects, so that a key is never
 * carried to another host. Whoever reads the answer says when content came: bytes that hold none (keep-alives) are silence.
 */
import { ModelError } from '#domain/model.ts';

export interface FetchLimits {
  readonly provider: string;
  /** Milliseconds until the first content: reasoning models send headers, then think. */
  readonly firstByteTimeoutMs: number;
  /** Milliseconds between two pieces of content, and from the last one to the end. */
  readonly idleTimeoutMs: number;
}

export interface TimedFetch {
  readonly fetch: typeof fetch;
  /** Says that content has arrived: the time begins anew, and the shorter limit holds from here on. */
  markContent(): void;
}

/** Far above any model's answer; below what would trouble a worker. */
const MAX_BYTES = 32 * 1024 * 1024;

/** A fetch for one model call. It throws ModelError Timeout, BadRequest (redirect) and TooLarge; else as fetch does. */
export function createTimedFetch(limits: FetchLimits): TimedFetch {
  const { provider } = limits;
  let begun = false;
  let rearm: () => void = () => undefined;

  const timedFetch: typeof fetch = async (input, init) => {
    const timeout = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const disarm = () => {
      clearTimeout(timer);
      timer = undefined;
    };
    const arm = () => {
      disarm();
      const ms = begun ? limits.idleTimeoutMs : limits.firstByteTimeoutMs;
      const what = begun ? 'sent nothing more' : 'sent no answer';
      timer = setTimeout(
        () => timeout.abort(new ModelError('Timeout', `${provider} ${what} within ${ms / 1000} s`)),
        ms,
      );
    };
    const signal = AbortSignal.any([timeout.signal, ...(init?.signal ? [init.signal] : [])]);
    signal.addEventListener('abort', disarm, { once: true });
    rearm = () => {
      if (timer && !timeout.signal.aborted) arm();
    };
    arm();
    const response = await fetch(input, { ...init, redirect: 'manual', signal }).catch((error: unknown) => {
      disarm();
      throw timeout.signal.aborted ? timeout.signal.reason : error;
    });
    if (response.status >= 300 && response.status < 400) {
      disarm();
      await response.body?.cancel();
      const setting = `models.providers.${provider}.baseUrl`;
      throw new ModelError('BadRequest', `${provider} redirects; set ${setting} to where it is`);
    }
    const { status, statusText, headers } = response;
    const body = response.body?.pipeThrough(watchBytes(provider, disarm)) ?? null;
    if (!body) disarm();
    return new Response(body, { status, statusText, headers });
  };

  return {
    fetch: timedFetch,
    markContent() {
      begun = true;
      rearm();
    },
  };
}

function watchBytes(provider: string, disarm: () => void): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES) {
        disarm();
        throw new ModelError('TooLarge', `${provider} sent more than ${MAX_BYTES} bytes`);
      }
      controller.enqueue(chunk);
    },
    flush: disarm,
    cancel: disarm,
  });
}
