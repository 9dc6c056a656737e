/** Proofs that a request is from who holds a secret, each compared in constant time. What is missing or misshapen is false, never an error. */
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ServiceRequest } from '../routes/channel-reader.ts';

/** Seconds that a signature's time may be away from ours, either way. */
const SKEW = 300;

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';
export type HmacEncoding = 'hex' | 'base64';

export interface HmacForm {
  /** Of which the whole value is the signature, behind `prefix`. */
  readonly header: string;
  readonly algorithm: HmacAlgorithm;
  readonly encoding: HmacEncoding;
  readonly prefix: string;
}

/** docs.github.com: validating webhook deliveries. */
export const GITHUB_FORM: HmacForm = {
  header: 'x-hub-signature-256',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: 'sha256=',
};

/** Of the raw body. */
export function isHmacSigned(
  { headers, body }: ServiceRequest,
  secret: string,
  { header, algorithm, encoding, prefix }: HmacForm,
): boolean {
  const expected = createHmac(algorithm, secret).update(body).digest(encoding);
  return isSame(headers[header.toLowerCase()], prefix + expected);
}

/** Slack's version 0: of the version, the time and the body. */
export function isSlackSigned({ headers, body }: ServiceRequest, secret: string, now: number): boolean {
  const time = headers['x-slack-request-timestamp'];
  if (!isFresh(time, now)) return false;
  const expected = createHmac('sha256', secret).update(`v0:${time}:`).update(body).digest('hex');
  return isSame(headers['x-slack-signature'], `v0=${expected}`);
}

/** Stripe's scheme v1; while a secret is being changed there are several. */
export function isStripeSigned({ headers, body }: ServiceRequest, secret: string, now: number): boolean {
  const parts = listOf(headers['stripe-signature'], ',').map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1];
  if (!isFresh(time, now)) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');
  return parts.some(([name, value]) => name === 'v1' && isSame(value, expected));
}

/** Standard Webhooks: `v1,` and base64, several while a secret is being changed. */
export function isStandardSigned({ headers, body }: ServiceRequest, secret: string, now: number): boolean {
  const [id, time] = [headers['webhook-id'], headers['webhook-timestamp']];
  if (typeof id !== 'string' || !isFresh(time, now)) return false;
  const expected = standardSignature(secret, id, new Date(Number(time) * 1000), body.toString());
  return (
    expected !== undefined &&
    listOf(headers['webhook-signature'], ' ').some((value) => isSame(value, expected))
  );
}

/** What is no base64 was never one of theirs. */
export function isStandardSecret(secret: string): boolean {
  return standardSignature(secret, 'id', new Date(0), '') !== undefined;
}

/** Undefined for a secret that is no base64. */
function standardSignature(secret: string, id: string, at: Date, body: string): string | undefined {
  try {
    return new Webhook(secret).sign(id, at, body);
  } catch {
    // Nobody can have signed by it.
    return undefined;
  }
}

/** Discord's: Ed25519 of the time and the body; `key` is its 32 bytes in hex. */
export function isDiscordSigned({ headers, body }: ServiceRequest, key: string, now: number): boolean {
  const [signature, time] = [headers['x-signature-ed25519'], headers['x-signature-timestamp']];
  if (typeof signature !== 'string' || !/^[0-9a-f]{128}$/i.test(signature)) return false;
  if (!isFresh(time, now) || !/^[0-9a-f]{64}$/i.test(key)) return false;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key, 'hex').toString('base64url') };
  const signed = Buffer.concat([Buffer.from(time), body]);
  return verify(null, signed, createPublicKey({ key: jwk, format: 'jwk' }), Buffer.from(signature, 'hex'));
}

/** `time` is seconds since 1970. */
function isFresh(time: unknown, now: number): time is string {
  return typeof time === 'string' && /^\d{1,12}$/.test(time) && Math.abs(now / 1000 - Number(time)) <= SKEW;
}

export function isSame(value: unknown, expected: string): boolean {
  return typeof value === 'string' && timingSafeEqual(digest(value), digest(expected));
}

/** Of the same length whatever is compared. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** No service sends more than a few. */
function listOf(header: unknown, separator: string): readonly string[] {
  return typeof header === 'string' ? header.split(separator, 20).map((part) => part.trim()) : [];
}
