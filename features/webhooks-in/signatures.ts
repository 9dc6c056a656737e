/**
 * Proves that a request is from the holder of a secret; each proof is compared in constant time. Missing or malformed
 * input returns false, never an error.
 */
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ServiceRequest } from '#features/channels/index.ts';

/** Seconds by which a signature's time may differ from ours, either way. */
const SKEW = 300;

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';
export type HmacEncoding = 'hex' | 'base64';

export interface HmacForm {
  /** The header whose whole value after `prefix` is the signature. */
  readonly header: string;
  readonly algorithm: HmacAlgorithm;
  readonly encoding: HmacEncoding;
  readonly prefix: string;
}

/** GitHub's form (docs.github.com: validating webhook deliveries). */
export const GITHUB_FORM: HmacForm = {
  header: 'x-hub-signature-256',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: 'sha256=',
};

/** Checks the signature of the raw body. */
export function isHmacSigned(
  { headers, body }: ServiceRequest,
  secret: string,
  { header, algorithm, encoding, prefix }: HmacForm,
): boolean {
  const expected = createHmac(algorithm, secret).update(body).digest(encoding);
  return isSame(headers[header.toLowerCase()], prefix + expected);
}

/** Checks Slack's version 0: a signature of the version, the time and the body. */
export function isSlackSigned({ headers, body }: ServiceRequest, secret: string, now: number): boolean {
  const time = headers['x-slack-request-timestamp'];
  if (!isFresh(time, now)) return false;
  const expected = createHmac('sha256', secret).update(`v0:${time}:`).update(body).digest('hex');
  return isSame(headers['x-slack-signature'], `v0=${expected}`);
}

/** Checks Stripe's scheme v1; during a change of the secret there are several signatures. */
export function isStripeSigned({ headers, body }: ServiceRequest, secret: string, now: number): boolean {
  const parts = listOf(headers['stripe-signature'], ',').map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1];
  if (!isFresh(time, now)) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');
  return parts.some(([name, value]) => name === 'v1' && isSame(value, expected));
}

/** Checks Standard Webhooks: `v1,` and base64, several during a change of the secret. */
export function isStandardSigned({ headers, body }: ServiceRequest, secret: string, now: number): boolean {
  const [id, time] = [headers['webhook-id'], headers['webhook-timestamp']];
  if (typeof id !== 'string' || !isFresh(time, now)) return false;
  const expected = standardSignature(secret, id, new Date(Number(time) * 1000), body.toString());
  return (
    expected !== undefined &&
    listOf(headers['webhook-signature'], ' ').some((value) => isSame(value, expected))
  );
}

/** A text that is no base64 was never one of their secrets. */
export function isStandardSecret(secret: string): boolean {
  return standardSignature(secret, 'id', new Date(0), '') !== undefined;
}

/** Returns undefined for a secret that is no base64. */
function standardSignature(secret: string, id: string, at: Date, body: string): string | undefined {
  try {
    return new Webhook(secret).sign(id, at, body);
  } catch {
    // Nobody can have signed with it.
    return undefined;
  }
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
function isFresh(time: unknown, now: number): time is string {
  return typeof time === 'string' && /^\d{1,12}$/.test(time) && Math.abs(now / 1000 - Number(time)) <= SKEW;
}

export function isSame(value: unknown, expected: string): boolean {
  return typeof value === 'string' && timingSafeEqual(digest(value), digest(expected));
}

/** The length is the same whatever is compared. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** No service sends more than a few. */
function listOf(header: unknown, separator: string): readonly string[] {
  return typeof header === 'string' ? header.split(separator, 20).map((part) => part.trim()) : [];
}
