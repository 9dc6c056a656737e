/**
 * `secret://NAME` in a setting refers to a value that is stored sealed (SC-2). This module finds and replaces such
 * references.
 */

const REFERENCE = /secret:\/\/([A-Za-z0-9_-]*)/g;

/** Names that a text refers to, each once. A reference without a name returns ''. */
export function secretNamesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(REFERENCE)].map((match) => match[1] ?? ''))];
}

/** Replaces references by values in one pass: a value that looks like a reference is not read again. */
export function fillSecrets(text: string, valueOf: (name: string) => string): string {
  return text.replace(REFERENCE, (_reference, name: string) => valueOf(name));
}

/** Replaces references in the path or query of an address by their values, percent-encoded. */
export async function fillSecretsOfUrl(
  url: string,
  resolve: (reference: string) => Promise<string>,
): Promise<string> {
  const values = new Map<string, string>();
  for (const name of secretNamesIn(url))
    values.set(name, encodeURIComponent(await resolve(`secret://${name}`)));
  return fillSecrets(url, (name) => values.get(name) ?? '');
}

/** A reference to a secret that does not exist or cannot be opened. The message says which one and what to do. */
export class SecretProblem extends Error {
  override readonly name = 'SecretProblem';
}
