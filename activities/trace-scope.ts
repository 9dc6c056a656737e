/** Which part of a turn makes a request, so that its header names the span (W3C Trace Context). */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { MessageContext } from '#domain/turn/turn.ts';
import { traceparentFrom } from '#store/turns/span-ids.ts';

const traceparents = new AsyncLocalStorage<string>();

/** Runs a model call (`part` is its answer's id) or a tool call. */
export function withTrace<Result>(
  tenant: string,
  context: MessageContext,
  part: string,
  run: () => Promise<Result>,
): Promise<Result> {
  const traceparent = traceparentFrom(tenant, context, part);
  return traceparent === undefined ? run() : traceparents.run(traceparent, run);
}

/** The same function for a service that may continue the trace. */
export function tracedFetch(ask: typeof fetch): typeof fetch {
  return (input, init) => {
    const traceparent = traceparents.getStore();
    if (traceparent === undefined) return ask(input, init);
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    headers.set('traceparent', traceparent);
    return ask(input, { ...init, headers });
  };
}
