/**
 * AES-256-GCM for every payload when a key is configured, so that Temporal's store and its readers see only bytes. The
 * web UI reads through the API's codec endpoint. Keys rotate: the first encrypts, all of them decrypt.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';

const ENCODING = 'binary/encrypted';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

// The module is CommonJS without named exports.
const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** `keys`: base64 of 32 bytes each, the active one first. */
export function createPayloadCodec(keys: readonly string[]): PayloadCodec {
  const known = keys.map((key) => Buffer.from(key, 'base64'));
  const [current] = known;
  if (!current || known.some((key) => key.length !== 32))
    throw new Error('an encryption key must have 32 bytes');
  const byId = new Map(known.map((key) => [keyId(key), key]));

  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(payload, current)),
    decode: async (payloads) =>
      payloads.map((payload) => (isEncrypted(payload) ? decrypt(payload, byId) : payload)),
  };
}

/** Undefined when no key is configured: then payloads are plain. */
export function dataConverterOf(encryption: {
  key?: string;
  previousKeys: readonly string[];
}): DataConverter | undefined {
  if (encryption.key === undefined) return undefined;
  return { payloadCodecs: [createPayloadCodec([encryption.key, ...encryption.previousKeys])] };
}

function encrypt(payload: Payload, key: Buffer): Payload {
  const nonce = randomBytes(NONCE_BYTES);
  const id = keyId(key);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(id));
  const body = Buffer.concat([cipher.update(PayloadMessage.encode(payload).finish()), cipher.final()]);
  return {
    metadata: { encoding: Buffer.from(ENCODING), 'encryption-key-id': Buffer.from(id) },
    data: Buffer.concat([nonce, body, cipher.getAuthTag()]),
  };
}

function decrypt(payload: Payload, keys: ReadonlyMap<string, Buffer>): Payload {
  const id = Buffer.from(payload.metadata?.['encryption-key-id'] ?? []).toString();
  const key = keys.get(id);
  if (!key)
    throw new Error(
      `a payload is encrypted with key ${id}, which is not configured (encryption.previousKeys)`,
    );
  const bytes = Buffer.from(payload.data ?? []);
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('an encrypted payload is too short');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(id));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const body = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  return PayloadMessage.decode(body);
}

function isEncrypted(payload: Payload): boolean {
  return Buffer.from(payload.metadata?.['encoding'] ?? []).toString() === ENCODING;
}

/** Identifies a key without revealing it. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('tempoclaw payload key').update(key).digest('hex').slice(0, 16);
}
