/**
 * Answers input that is no request to a route: broken request lines, smuggling attempts, headers that never end, and
 * CONNECT, for which Node's server would close the connection without an answer.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { FAILURES } from '#domain/errors.ts';
import { PROBLEM_TYPE } from './errors.ts';

const STATUS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The address or the headers are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
};

/** Sends the reason and closes, because after such an error nothing on the connection can be trusted. */
export function answerRawErrors(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = STATUS[error.code ?? ''] ?? [400, 'The request is not valid HTTP'];
  answer(socket, 'InvalidInput', status, detail);
}

/** This is no proxy. */
export function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  answer(socket, 'MethodNotAllowed', 405, 'This server opens no tunnels');
}

function answer(
  socket: Duplex,
  code: 'InvalidInput' | 'MethodNotAllowed',
  status: number,
  detail: string,
): void {
  const body = JSON.stringify({
    type: `/docs/errors#${code}`,
    title: FAILURES[code].title,
    status,
    detail,
    instance: '',
    code,
    request_id: '',
    retryable: false,
  });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Bad Request'}`,
      `content-type: ${PROBLEM_TYPE}; charset=utf-8`,
      `content-length: ${Buffer.byteLength(body)}`,
      'cache-control: no-store',
      'x-content-type-options: nosniff',
      ...(status === 405 ? ['allow: GET, HEAD, POST, PUT, PATCH, DELETE'] : []),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
