/** Sends one request to a chat service; returns its answer as JSON. */
import { readRetryAfter } from '#domain/net/retry-after.ts';
import { isRecord } from '#domain/outside-value.ts';
import { ChannelError } from './channel-error.ts';
import type { SendContext, SentFile } from './channel-sender.ts';

export interface ServiceAnswer {
  readonly status: number;
  /** Milliseconds, as `retry-after` says. */
  readonly retryAfter: number | undefined;
  readonly headers: Headers;
  /** Empty when the answer is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** `path` follows the base URL. The body is sent as JSON, unless it is a form. @throws EgressError */
export async function callService(
  { client, baseUrl, signal }: SendContext,
  path: string,
  body?: object,
  { method = 'POST', headers = {} }: { method?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<ServiceAnswer> {
  const isForm = body instanceof FormData || body instanceof URLSearchParams;
  const response = await client.fetch(`${baseUrl}${path}`, {
    method,
    signal,
    // A form sets its own type.
    headers: body === undefined || isForm ? headers : { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  return {
    status: response.status,
    retryAfter: readRetryAfter(response.headers.get('retry-after'), Date.now()),
    headers: response.headers,
    body: parse(await response.text()),
  };
}

/** Fetches the bytes at an address that is known to be the service's. @throws ChannelError, EgressError */
export async function fetchBytes(
  { client, signal }: SendContext,
  service: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly bytes: Buffer; readonly type: string }> {
  const response = await client.fetch(url, { signal, headers });
  const { status } = response;
  if (status !== 200) {
    await response.body?.cancel();
    throw new ChannelError(`${service} answered ${status} when the file was asked for`, {
      status,
      retryAfter: readRetryAfter(response.headers.get('retry-after'), Date.now()),
      isFinal: status < 500 && status !== 429,
    });
  }
  const type = response.headers.get('content-type') ?? '';
  return { bytes: Buffer.from(await response.arrayBuffer()), type };
}

/** Makes a file a part of a form. */
export function blobOf({ bytes, type }: SentFile): Blob {
  return new Blob([new Uint8Array(bytes)], { type });
}

/**
 * Checks that an address is where the service itself has files: at its base URL, or at a host of it over https. @throws
 * ChannelError
 */
export function ownAddress(
  { baseUrl }: SendContext,
  service: string,
  address: string,
  hosts: RegExp,
): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isOwn =
    url?.origin === new URL(baseUrl).origin ||
    (url?.protocol === 'https:' && url.port === '' && hosts.test(url.hostname));
  if (url && isOwn) return url.href;
  throw new ChannelError(`the file is not kept by ${service}`, { status: 0, isFinal: true });
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? body : {};
  } catch {
    // This is a proxy's page; the status says enough.
    return {};
  }
}
