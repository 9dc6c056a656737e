/** Answers input that is not even HTTP: broken request lines, smuggling attempts, headers that never end. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { FAILURES } from '#domain/errors.ts';
import { PROBLEM_TYPE } from './errors.ts';

const STATUS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The address or the headers are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
};

/** Sends the reason and closes, because after such an error nothing on the connection can be trusted. */
export function answerRawErrors(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = STATUS[error.code ?? ''] ?? [400, 'The request is not valid HTTP'];
  const body = JSON.stringify({
    type: '/docs/errors#InvalidInput',
    title: FAILURES.InvalidInput.title,
    status,
    detail,
    instance: '',
    code: 'InvalidInput',
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
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
