/**
 * Sends one request to an API. For the API of a run.json, it uses the socket that the file names, in a folder of ours
 * in which nobody else can make one. The port may belong to a stranger by now, who would get the key.
 */
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import type { Target } from './target.ts';

export interface Sent {
  readonly method?: string;
  readonly headers: Headers;
  readonly body?: string | Uint8Array<ArrayBuffer> | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Rejects when nothing answers. It does not follow a redirect, because that could carry the key elsewhere. */
export function sendTo({ socket }: Pick<Target, 'socket'>, url: URL, sent: Sent): Promise<Response> {
  const { method = 'GET', headers, body = null, signal } = sent;
  if (socket === undefined)
    return fetch(url, { method, headers, body, redirect: 'error', ...(signal && { signal }) });
  return new Promise((resolve, reject) => {
    const options = { socketPath: socket, method, headers: Object.fromEntries(headers), agent: false };
    const request = httpRequest(url, { ...options, ...(signal && { signal }) }, (answer) => {
      const { statusCode: status = 502 } = answer;
      const headers = new Headers();
      for (const [name, values] of Object.entries(answer.headersDistinct))
        for (const value of values ?? []) headers.append(name, value);
      const isEmpty = status === 204 || status === 205 || status === 304;
      const stream = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
      resolve(new Response(stream, { status, headers: headers }));
    });
    request.once('error', reject);
    request.end(body ?? undefined);
  });
}
