/** What holds for all agents of one tenant: its row's `policy`, between the settings and the agent (PO-1). */
import type { ExecPolicy, ToolPolicy } from './agent.ts';

export interface TenantPolicy {
  readonly tools?: ToolPolicy | undefined;
  readonly exec?: Omit<ExecPolicy, 'timeout_seconds'> | undefined;
}
