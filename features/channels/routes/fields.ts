/** What readers take out of what services send, whatever that is. */
import { type Fields, isRecord } from '#domain/outside-value.ts';

/** Without fields when it is no record. */
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
