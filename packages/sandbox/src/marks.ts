/** How processes and containers are marked as those of one installation: all by its name. */

/** Names of environment variables. */
export interface Marks {
  /** Names the run of a command: `CALL_ID.NONCE`. */
  readonly call: string;
  /** Names the process that runs it. */
  readonly worker: string;
  /** Names a background command. */
  readonly process: string;
  /** When a command in a container is past its time, in seconds since 1970. */
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
