/** A tool of a host as one of the catalog: what models see of it, and how its calls are judged and limited. */
import type { Tool } from '#policy/define-tool.ts';
import { uncheckedArguments } from '#policy/unchecked-arguments.ts';
import type { CodeToolRow } from './store.ts';

/** Seconds of an attempt that looks for the result and then leaves the worker. */
const ATTEMPT_SECONDS = 90;
/** Seconds that a call may wait for its host, and then for the host's answer. */
const WAIT_SECONDS = 90;

/** This tool can be judged and shown; a runnable one is made for its call. */
export function catalogedTool({ id, revision, definition }: CodeToolRow): Tool {
  const {
    name,
    description,
    parameters,
    replay,
    probes,
    undone_by,
    undoes,
    outside,
    approval,
    timeout_seconds,
  } = definition;
  const reads = replay === 'read';
  return {
    name,
    description,
    group: 'custom',
    // What a lost attempt began is looked for first.
    ...(reads
      ? { replay: 'readonly' as const }
      : { replay: 'verify' as const, mayContinueOutside: true as const }),
    ...(approval && { asks: 'the tool asks for an approval of each call' }),
    ...(outside && { outside: true as const }),
    definition: { id, revision },
    input: uncheckedArguments(parameters),
    limits: {
      duration: 'long',
      costly: true,
      timeoutSeconds: reads ? timeout_seconds + WAIT_SECONDS : ATTEMPT_SECONDS,
    },
    summary: (input) => JSON.stringify(input).slice(0, 300),
    ...(undoes !== undefined && { isReversal: true as const }),
    ...(undone_by !== undefined && {
      // Its probe finds out whether a call took effect that was lost or has failed.
      inverse: (args, { id: call, isUncertain, result }) =>
        isUncertain && !probes
          ? undefined
          : { tool: undone_by, args: { call, input: args, ...(!isUncertain && { result }) } },
    }),
    run: () => Promise.reject(new Error('a tool of a catalog does not run')),
  };
}
