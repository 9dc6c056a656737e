/** Arguments of activities by name, as rules and people have them, and back. */
import type { GuardedTool } from './contract.ts';

type Named = Readonly<Record<string, unknown>>;

export function namedArguments({ parameters }: GuardedTool, args: readonly unknown[]): Named {
  if (parameters) {
    const rest = args.slice(parameters.length);
    const named = Object.fromEntries(parameters.map((name, at) => [name, args[at] ?? null]));
    return rest.length === 0 ? named : { ...named, arguments: rest };
  }
  const [first] = args;
  return isRecord(first) && (args.length === 1 || isToolOptions(args)) ? first : { arguments: args };
}

/** The activity's arguments, with those that a person has put in place of the named ones. */
export function positionalArguments(
  { parameters }: GuardedTool,
  args: readonly unknown[],
  edited: Named,
): unknown[] {
  const rest = edited['arguments'];
  const others = Array.isArray(rest) ? rest : [];
  if (parameters) return [...parameters.map((name) => edited[name]), ...others];
  const [first, ...more] = args;
  return isRecord(first) && (args.length === 1 || isToolOptions(args)) ? [edited, ...more] : others;
}

/** The AI SDK calls a tool with its input and with options that no rule is about. */
function isToolOptions(args: readonly unknown[]): boolean {
  const [, options] = args;
  return args.length === 2 && isRecord(options) && typeof options['toolCallId'] === 'string';
}

function isRecord(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
