/** SH-4: a program that is configured with credentials cannot be run as a plain command, however it is wrapped. */
import { expandCommands, programOf, SHELLS } from '@tempoclaw/shell-judge';

/** `env` and shells within each other that are followed; what is wrapped deeper is refused (REFERENCE §3). */
const MAX_NESTING = 3;

export type Secured = { readonly kind: 'program'; readonly name: string } | { readonly kind: 'too_deep' };

/** What refuses the command, or undefined. `names` are the configured programs of the tenant. */
export function findSecured(command: string, names: ReadonlySet<string>): Secured | undefined {
  if (names.size === 0) return undefined;
  let isDeep = false;
  for (const each of expandCommands(command).commands) {
    if (each.via.filter((name) => name === 'env' || SHELLS.has(name)).length > MAX_NESTING) isDeep = true;
    const program = programOf(each);
    const name = [...names].find((one) => one.toLowerCase() === program);
    if (name !== undefined && !isDeep) return { kind: 'program', name };
  }
  return isDeep ? { kind: 'too_deep' } : undefined;
}
