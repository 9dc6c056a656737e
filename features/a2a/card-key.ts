/** The key that signs agent cards: made from the secret of the installation, so that all processes have the same. */
import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';

/** A public key as JWK, by which clients check signatures. */
export interface CardKey {
  readonly privateKey: KeyObject;
  readonly publicJwk: Readonly<Record<string, unknown>> & { readonly kid: string };
}

/** What comes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410, 7). */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

export function createCardKey(secret: string): CardKey {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'tempoclaw a2a agent cards', 32));
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_ED25519, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const { kty, crv, x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicJwk: { kty, crv, x, kid: x.slice(0, 16), alg: 'EdDSA', use: 'sig' } };
}
