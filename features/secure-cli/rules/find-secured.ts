/**
 * SH-4: finds programs with configured credentials in a plain command, however it wraps them. They cannot be run that
 * way.
 */
import { expandCommands, programOf, SHELLS } from '@tempoclaw/shell-judge';

/** Nested `env` and shells that are followed; deeper wrapping is refused. */
const MAX_NESTING = 3;

export type Secured = { readonly kind: 'program'; readonly name: string } | { readonly kind: 'too_deep' };

/** Why the command is refused, or undefined. `names` are the configured programs of the tenant. */
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
