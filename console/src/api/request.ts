/** Sends typed requests to the API of this origin. */
import { addressOf, type AnswerOf, type OperationName, type RequestParts } from '@tempoclaw/client';
import { OFFLINE, type Problem, type Result, readProblem } from './problem.ts';

export { addressOf, type OperationName, type RequestParts };

/** The session of this browser, which api/session.ts sets. */
export const credentials: { csrf: string; onEnd: () => void } = { csrf: '', onEnd: () => undefined };

export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  /** Marks a change that may be sent again, so that it is made once; each has its own by default. */
  readonly key?: string | undefined;
}

/** Resolves with the answer or the problem, and never rejects, except with the abort of `signal`. */
export async function request<Name extends OperationName>(
  name: Name,
  parts: RequestParts<Name>,
  options?: SendOptions,
): Promise<Result<AnswerOf<Name>>> {
  const { method, address } = addressOf(name, parts);
  return requestAt(method, address, parts.body, options);
}

/** The same at an address that is known only when the page runs. */
export async function requestAt<Answer>(
  method: string,
  address: string,
  body?: unknown,
  options?: SendOptions,
): Promise<Result<Answer>> {
  const answer = await send(method, address, body, options);
  if (!(answer instanceof Response)) return { ok: false, problem: answer };
  if (answer.ok) {
    const data: unknown = answer.status === 204 ? undefined : await answer.json().catch(() => undefined);
    return { ok: true, data: data as Answer };
  }
  const problem = await readProblem(answer);
  if (problem.status === 401) credentials.onEnd();
  return { ok: false, problem };
}

/** `path` is relative to the page's base. A file is sent as it is. */
export async function send(
  method: string,
  path: string,
  body?: unknown,
  { signal, key = randomId() }: SendOptions = {},
): Promise<Response | Problem> {
  const content = body === undefined ? undefined : contentOf(body);
  try {
    return await fetch(new URL(path, document.baseURI), {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(method !== 'GET' && { 'x-csrf-token': credentials.csrf }),
        // A login must never be answered from a store.
        ...(method === 'POST' && path.startsWith('v1/') && { 'idempotency-key': key }),
        ...content?.headers,
      },
      ...(content && { body: content.body }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    return OFFLINE;
  }
}

function contentOf(body: unknown) {
  if (!(body instanceof Blob))
    return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return { body, headers: { 'content-type': body.type || 'application/octet-stream' } };
}

/** `crypto.randomUUID` is missing where the page was not loaded over TLS. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
