/** `secret://NAME` in a setting stands for a value that is kept sealed (SC-2): how such references are read and put in. */

const REFERENCE = /secret:\/\/([A-Za-z0-9_-]*)/g;

/** Names that a text refers to, each once. A reference without a name gives ''. */
export function secretNamesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(REFERENCE)].map((match) => match[1] ?? ''))];
}

/** Puts values in the place of references, in one pass: a value that looks like a reference is not read again. */
export function fillSecrets(text: string, valueOf: (name: string) => string): string {
  return text.replace(REFERENCE, (_reference, name: string) => valueOf(name));
}

/** A reference to a secret that is not there, or that does not open. The message says which and what to do. */
export class SecretProblem extends Error {
  override readonly name = 'SecretProblem';
}
