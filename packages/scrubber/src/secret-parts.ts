/** Which part of a named value is the secret: of an address only its password, so that a person sees what it leads to. */
import { isSecretValue, type ValueShape } from './is-secret-value.ts';
import type { SecretName } from './secret-names.ts';

export interface Part {
  readonly start: number;
  readonly end: number;
}

/** Of a URL, of Go's way to write one, and of a list of pairs (`host=… password=…`, `Server=…;Pwd=…`). */
const PASSWORDS =
  /(?<=:\/\/[^\s:@/?#]{0,128}:)[^\s/]{1,256}(?=@)|(?<=^[^\s:@/]{1,64}:)(?!\/\/)\S{1,256}(?=@[\w.:-]{0,253}(?:[(/]|$))|(?<=(?:password|passwd|pwd|pass)\s{0,3}=\s{0,3})[^\s;&]{1,256}/gi;
/** A reference, or one letter over and over. */
const NO_PASSWORD = /^(?:\$(?:[{(]|[A-Za-z_]\w*$)|[<{]|(\S)\1*$)/;
/** A pair of a list, the others of which are read by themselves. */
const PAIR = /^[A-Za-z][\w ]{1,30}=[^=]/;

/** Empty when nothing of it is secret. */
export function secretParts(value: string, name: SecretName, shape: ValueShape): readonly Part[] {
  if (!isSecretValue(value, name, shape)) return [];
  const whole = { start: 0, end: value.length };
  if (name.kind !== 'connection') return [whole];
  const parts = Array.from(value.matchAll(PASSWORDS), ({ index, 0: password }) => ({
    password,
    start: index,
    end: index + password.length,
  }));
  if (parts.length > 0) return parts.filter(({ password }) => !NO_PASSWORD.test(password));
  return PAIR.test(value) ? [] : [whole];
}
