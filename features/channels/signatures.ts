/**
 * Proves that a request is from its chat service; each proof is compared in constant time. Missing or malformed input
 * returns false, never an error.
 */
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import type { ServiceRequest } from './routes/channel-reader.ts';

/** Seconds by which a signature's time may differ from ours, either way. */
const SKEW = 300;

/** Checks Slack's version 0: a signature of the version, the time and the body. */
export function isSlackSigned({ headers, body }: ServiceRequest, secret: string, now: number): boolean {
  const time = headers['x-slack-request-timestamp'];
  if (!isFresh(time, now)) return false;
  const expected = createHmac('sha256', secret).update(`v0:${time}:`).update(body).digest('hex');
  return isSame(headers['x-slack-signature'], `v0=${expected}`);
}

/** Checks Discord's: Ed25519 of the time and the body; `key` is its 32 bytes in hex. */
export function isDiscordSigned({ headers, body }: ServiceRequest, key: string, now: number): boolean {
  const [signature, time] = [headers['x-signature-ed25519'], headers['x-signature-timestamp']];
  if (typeof signature !== 'string' || !/^[0-9a-f]{128}$/i.test(signature)) return false;
  if (!isFresh(time, now) || !/^[0-9a-f]{64}$/i.test(key)) return false;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key, 'hex').toString('base64url') };
  const signed = Buffer.concat([Buffer.from(time), body]);
  return verify(null, signed, createPublicKey({ key: jwk, format: 'jwk' }), Buffer.from(signature, 'hex'));
}

/** `time` is seconds since 1970. */
export function isFresh(time: unknown, now: number): time is string {
  return typeof time === 'string' && /^\d{1,12}$/.test(time) && Math.abs(now / 1000 - Number(time)) <= SKEW;
}

export function isSame(value: unknown, expected: string): boolean {
  return typeof value === 'string' && timingSafeEqual(digest(value), digest(expected));
}

/** The length is the same whatever is compared. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
