/** What readers extract from the requests of services, whatever those contain. */
import { type Fields, isRecord } from '#domain/outside-value.ts';

/** A record without fields if the value is none. */
export function record(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** Bytes. */
export function sizeOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
