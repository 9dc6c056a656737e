/** The folder of an agent's files, for a process that does not run its tools. */
import type { AgentConfig } from '#domain/agent.ts';
import { workspaceFolder } from './workspace-folder.ts';

export function workspaceOfAgent(root: string, tenant: string, agent: AgentConfig): string {
  return workspaceFolder(root, tenant, agent.workspace ?? agent.key);
}
