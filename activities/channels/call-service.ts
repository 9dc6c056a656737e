/** One request to a chat service: its answer as JSON. */
import { isRecord } from '#domain/outside-value.ts';
import type { SendContext } from './channel-sender.ts';

export interface ServiceAnswer {
  readonly status: number;
  /** As `retry-after` says. */
  readonly retryAfter: number | undefined;
  /** Empty when the answer is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** `path` follows the base URL. The body is sent as JSON. @throws EgressError */
export async function callService(
  { door, baseUrl, signal }: SendContext,
  path: string,
  body?: object,
  { method = 'POST', headers = {} }: { method?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<ServiceAnswer> {
  const response = await door.fetch(`${baseUrl}${path}`, {
    method,
    signal,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const seconds = Number(response.headers.get('retry-after') ?? NaN);
  return {
    status: response.status,
    retryAfter: Number.isFinite(seconds) ? Math.ceil(seconds * 1000) : undefined,
    body: parse(await response.text()),
  };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? body : {};
  } catch {
    // A proxy's page: the status says what there is to say.
    return {};
  }
}
