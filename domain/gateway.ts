/** The deployment as its operators see it: what runs, which settings apply, and how to reload them. */

import type { reloadedSchema, statusSchema } from './resource/gateway.ts';
import type { Kept } from './schema/scalars.ts';

export type GatewayStatus = Kept<typeof statusSchema>;

/** Paths of settings, such as `tools.deny`. */
export type Reloaded = Kept<typeof reloadedSchema>;

/** The caller: only admins of the operator's tenant have access. */
export interface GatewayCaller {
  readonly tenant: string;
  readonly scopes: readonly string[];
}

/** @throws Failure Forbidden for all other callers */
export interface Gateway {
  status(caller: GatewayCaller): Promise<GatewayStatus>;
  /** Settings without secrets, at a path or all. @throws Failure NotFound when there is no such setting */
  config(caller: GatewayCaller, path: string): unknown;
  /**
   * Reloads in this process, whose result it returns, and then in all others, which log theirs. @throws Failure
   * Unprocessable when nothing was applied
   */
  reload(caller: GatewayCaller): Promise<Reloaded>;
}
