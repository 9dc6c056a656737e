/**
 * AES-256-GCM for values that rows may contain but people may not see. The additional data binds a ciphertext to its
 * row, so that it does not open elsewhere.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 4;

export interface Sealer {
  /** Id of the key that seals now; stored beside sealed values, so that rows of old keys can be found. */
  readonly keyId: string;
  /** Ids of all keys that open. */
  readonly keyIds: readonly string[];
  /** Returns base64 of key id, nonce, ciphertext and tag. */
  seal(plain: string, boundTo: string): string;
  /** Throws when the key is unknown, or a bit of the text or of `boundTo` differs. */
  open(sealed: string, boundTo: string): string;
}

/** The first key seals; all of them open. Each has 32 bytes. */
export function createSealer(keys: readonly Buffer[]): Sealer {
  const [first] = keys;
  if (!first || keys.some((key) => key.length !== 32)) throw new Error('a sealing key must have 32 bytes');
  const byId = new Map(keys.map((key) => [keyId(key).toString('hex'), key]));

  return {
    keyId: keyId(first).toString('hex'),
    keyIds: [...byId.keys()],

    seal(plain, boundTo) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', first, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(boundTo));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([keyId(first), nonce, body, cipher.getAuthTag()]).toString('base64');
    },

    open(sealed, boundTo) {
      const bytes = Buffer.from(sealed, 'base64');
      if (bytes.length < KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES) throw new Error('sealed data is too short');
      const key = byId.get(bytes.subarray(0, KEY_ID_BYTES).toString('hex'));
      if (!key) throw new Error('sealed with a key that is not configured');
      const nonce = bytes.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(boundTo));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const body = bytes.subarray(KEY_ID_BYTES + NONCE_BYTES, -TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
  };
}

function keyId(key: Buffer): Buffer {
  return createHash('sha256').update('tempoclaw key id').update(key).digest().subarray(0, KEY_ID_BYTES);
}
