/**
 * Seals what goes between a node and its server through Temporal, which stores it. The key is derived from the node's
 * token.
 */
const ALGORITHM = 'AES-GCM';
const IV_BYTES = 12;

/**
 * Derived by HKDF (RFC 5869), so that what a row has in clear text to find the node is no key. The token is random
 * enough by itself.
 */
export async function nodeKeyOf(token: string): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const from = await crypto.subtle.importKey('raw', encoder.encode(token), 'HKDF', false, ['deriveBits']);
  const info = encoder.encode('node-seal');
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, from, 256));
}

/** `place` says what it is and for which invocation, so that none can replace another. `iv` is 12 random bytes. */
export async function sealForNode(
  key: Uint8Array<ArrayBuffer>,
  place: string,
  iv: Uint8Array<ArrayBuffer>,
  value: unknown,
): Promise<Uint8Array> {
  const cryptoKey = await crypto.subtle.importKey('raw', key, ALGORITHM, false, ['encrypt']);
  const text = new TextEncoder().encode(JSON.stringify(value));
  const sealed = await crypto.subtle.encrypt(parametersOf(iv, place), cryptoKey, text);
  const whole = new Uint8Array(iv.length + sealed.byteLength);
  whole.set(iv);
  whole.set(new Uint8Array(sealed), iv.length);
  return whole;
}

/** Throws when it is sealed under another token, or for another place. */
export async function openFromNode(
  key: Uint8Array<ArrayBuffer>,
  place: string,
  sealed: Uint8Array,
): Promise<unknown> {
  const cryptoKey = await crypto.subtle.importKey('raw', key, ALGORITHM, false, ['decrypt']);
  const bytes = Uint8Array.from(sealed);
  const parameters = parametersOf(bytes.subarray(0, IV_BYTES), place);
  const text = await crypto.subtle.decrypt(parameters, cryptoKey, bytes.subarray(IV_BYTES));
  return JSON.parse(new TextDecoder().decode(text));
}

function parametersOf(iv: Uint8Array<ArrayBuffer>, place: string) {
  return { name: ALGORITHM, iv, additionalData: new TextEncoder().encode(place) };
}
