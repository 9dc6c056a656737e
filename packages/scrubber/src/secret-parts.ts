/** Which part of a named value is secret: of an address only its password, so that people see the host. */
import { isSecretValue, type ValueShape } from './is-secret-value.ts';
import type { SecretName } from './secret-names.ts';

export interface Part {
  readonly start: number;
  readonly end: number;
}

/** Passwords in a URL, in Go's notation of one, and in a list of pairs (`host=… password=…`, `Server=…;Pwd=…`). */
const PASSWORDS =
  /(?<=:\/\/[^\s:@/?#]{0,128}:)[^\s/]{1,256}(?=@)|(?<=^[^\s:@/]{1,64}:)(?!\/\/)\S{1,256}(?=@[\w.:-]{0,253}(?:[(/]|$))|(?<=(?:password|passwd|pwd|pass)\s{0,3}=\s{0,3})[^\s;&]{1,256}/gi;
/** A reference, or one repeated letter. */
const NO_PASSWORD = /^(?:\$(?:[{(]|[A-Za-z_]\w*$)|[<{]|(\S)\1*$)/;
/** A pair of a list, whose other pairs are read separately. */
const PAIR = /^[A-Za-z][\w ]{1,30}=[^=]/;

/** Empty when no part is secret. */
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
