/**
 * Seals what goes through Temporal to programs that do not have our keys: Temporal stores it, and only the program can
 * read it. The key is derived from a credential that the program has.
 */
const ALGORITHM = 'AES-GCM';
const IV_BYTES = 12;

/**
 * Derived by HKDF (RFC 5869), so that a stored hash of the credential is no key. `purpose` keeps keys of one credential
 * apart. The credential must be random.
 */
export async function deriveSealKey(credential: string, purpose: string): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const from = await crypto.subtle.importKey('raw', encoder.encode(credential), 'HKDF', false, [
    'deriveBits',
  ]);
  const info = encoder.encode(purpose);
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, from, 256));
}

/** `place` says what it is and for which work, so that none can replace another. `iv` is 12 random bytes. */
export async function sealPayload(
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

/** Throws when it is sealed under another key, or for another place. */
export async function openPayload(
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
