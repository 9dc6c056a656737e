/** What goes between a node and its server by way of Temporal, which keeps it: sealed under the hash of the node's token, which both have. */
const ALGORITHM = 'AES-GCM';
const IV_BYTES = 12;

/** `place` says what it is and of which invocation, so that none stands for another. `iv`: 12 bytes of chance. */
export async function sealForNode(
  tokenHash: Uint8Array<ArrayBuffer>,
  place: string,
  iv: Uint8Array<ArrayBuffer>,
  value: unknown,
): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey('raw', tokenHash, ALGORITHM, false, ['encrypt']);
  const text = new TextEncoder().encode(JSON.stringify(value));
  const sealed = await crypto.subtle.encrypt(parametersOf(iv, place), key, text);
  const whole = new Uint8Array(iv.length + sealed.byteLength);
  whole.set(iv);
  whole.set(new Uint8Array(sealed), iv.length);
  return whole;
}

/** Throws when it is sealed under another token, or for another place. */
export async function openFromNode(
  tokenHash: Uint8Array<ArrayBuffer>,
  place: string,
  sealed: Uint8Array,
): Promise<unknown> {
  const key = await crypto.subtle.importKey('raw', tokenHash, ALGORITHM, false, ['decrypt']);
  const bytes = Uint8Array.from(sealed);
  const parameters = parametersOf(bytes.subarray(0, IV_BYTES), place);
  const text = await crypto.subtle.decrypt(parameters, key, bytes.subarray(IV_BYTES));
  return JSON.parse(new TextDecoder().decode(text));
}

function parametersOf(iv: Uint8Array<ArrayBuffer>, place: string) {
  return { name: ALGORITHM, iv, additionalData: new TextEncoder().encode(place) };
}
