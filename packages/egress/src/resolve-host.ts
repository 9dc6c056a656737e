/** Addresses of a name by the machine's own resolver, as a program here would get them. */
import { lookup } from 'node:dns/promises';
import { setTimeout } from 'node:timers/promises';

/** A resolver that does not answer must not block later work. */
const RESOLVE_MS = 5_000;

/** Empty when the name has none, or the resolver does not answer in time. */
export async function resolveHost(host: string): Promise<readonly string[]> {
  const found = lookup(host, { all: true, verbatim: true }).then(
    (answers) => answers.map(({ address }) => address),
    // After any error of the resolver there is no address to dial.
    () => [],
  );
  return Promise.race([found, setTimeout(RESOLVE_MS, [], { ref: false })]);
}
