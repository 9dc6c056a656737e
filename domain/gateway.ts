/** The deployment as its operators see it: what runs, which settings are in force, and having them read again. */

export interface GatewayStatus {
  readonly version: string;
  /** Of the process that answers. */
  readonly uptime_seconds: number;
  readonly postgres: 'ok' | 'away';
  readonly temporal: 'ok' | 'away';
  readonly task_queue: string;
  /** Processes that have asked Temporal for work in the last minutes. */
  readonly workers: readonly { readonly identity: string; readonly seen_at: string }[];
}

/** Paths of settings, such as `tools.deny`. */
export interface Reloaded {
  readonly applied: readonly string[];
  /** Changed in the file too, and in force when the process is started anew. */
  readonly restart: readonly string[];
}

/** Who asks: admins of the operator's tenant are heard. */
export interface GatewayCaller {
  readonly tenant: string;
  readonly scopes: readonly string[];
}

/** Throws Failures: Forbidden to all others. */
export interface Gateway {
  status(caller: GatewayCaller): Promise<GatewayStatus>;
  /** Without secrets; at a path, or all. NotFound: there is no such setting. */
  config(caller: GatewayCaller, path: string): unknown;
  /** In this process, whose answer it is, and then in all others, which log theirs. Unprocessable: nothing was applied. */
  reload(caller: GatewayCaller): Promise<Reloaded>;
}
