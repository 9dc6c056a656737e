/** Marks of an installation's processes and containers, all derived from its name. */

/** Names of environment variables. */
export interface Marks {
  /** Identifies the run of a command: `CALL_ID.NONCE`. */
  readonly call: string;
  /** Identifies the process that runs it. */
  readonly worker: string;
  /** Identifies a background command. */
  readonly process: string;
  /** When the time of a command in a container is over, in seconds since 1970. */
  readonly until: string;
}

/** `name` is lower-case letters: `acme` marks processes with `ACME_CALL`. */
export function marksOf(name: string): Marks {
  const prefix = name.toUpperCase();
  return {
    call: `${prefix}_CALL`,
    worker: `${prefix}_WORKER`,
    process: `${prefix}_PROCESS`,
    until: `${prefix}_UNTIL`,
  };
}
