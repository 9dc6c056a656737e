/**
 * Proves that a request is from the holder of a secret; each proof is compared in constant time. Missing or malformed
 * input returns false, never an error.
 */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { isFresh, isSame, type ServiceRequest } from '#features/channels/index.ts';

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
  if (typeof id !== 'string' || id === '' || !isFresh(time, now)) return false;
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

/** No service sends more than a few. */
function listOf(header: unknown, separator: string): readonly string[] {
  return typeof header === 'string' ? header.split(separator, 20).map((part) => part.trim()) : [];
}
