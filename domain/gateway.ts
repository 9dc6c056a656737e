/** The deployment as its operators see it: what runs, which settings are in force, and having them read again. */

import type { reloadedSchema, statusSchema } from './resource/gateway.ts';
import type { Kept } from './schema/scalars.ts';

export type GatewayStatus = Kept<typeof statusSchema>;

/** Paths of settings, such as `tools.deny`. */
export type Reloaded = Kept<typeof reloadedSchema>;

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
