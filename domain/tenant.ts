/** What holds for all agents of one tenant: its row's `policy`, between the settings and the agent (PO-1). */
import type { ToolPolicy } from './agent.ts';

export interface TenantPolicy {
  readonly tools?: ToolPolicy;
}
