/**
 * Access to model providers: with limits of size and silence, and without redirects, so that a key is never sent to
 * another host.
 */
import { ModelError } from '#domain/model/model.ts';
import { tracedFetch } from '../trace-scope.ts';
import type { ProviderSettings } from './provider-settings.ts';

/** Far above any model's answer, and below what would overload a worker. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Throws ModelError BadRequest (redirect) and TooLarge; otherwise like fetch. */
export function guardedFetch(provider: string): typeof fetch {
  return async (input, init) => {
    const response = await tracedFetch(fetch)(input, { ...init, redirect: 'manual' });
    const { status, statusText, headers, body } = response;
    if (status >= 300 && status < 400) {
      await body?.cancel();
      const setting = `models.providers.${provider}.baseUrl`;
      throw new ModelError('BadRequest', `${provider} redirects; set ${setting} to where it is`);
    }
    return new Response(body?.pipeThrough(limitBytes(provider)) ?? null, { status, statusText, headers });
  };
}

function limitBytes(provider: string): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES)
        throw new ModelError('TooLarge', `${provider} sent more than ${MAX_BYTES} bytes`);
      controller.enqueue(chunk);
    },
  });
}

/**
 * The limits of one call: its signal aborts with a ModelError Timeout. Bytes without content (keep-alives) count as
 * silence.
 */
export interface Patience {
  readonly signal: AbortSignal;
  /** Content has arrived: the time starts again, and the shorter limit applies from now on. */
  markContent(): void;
  end(): void;
}

export function createPatience({ name, firstByteTimeoutMs, idleTimeoutMs }: ProviderSettings): Patience {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wait = (ms: number, silence: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      late.abort(new ModelError('Timeout', `${name} ${silence} within ${ms / 1000} s`));
    }, ms);
  };
  wait(firstByteTimeoutMs, 'sent no answer');
  return {
    signal: late.signal,
    markContent: () => wait(idleTimeoutMs, 'sent nothing more'),
    end: () => clearTimeout(timer),
  };
}
