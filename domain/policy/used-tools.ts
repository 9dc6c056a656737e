/** PO-5: what a session has read, for rules that look back. */
import type { PolicyTool } from './tool-groups.ts';

/** From a tool's name to the first call of it whose result the session has, or that came to it with what another session says. */
export type UsedTools = Readonly<Record<string, string>>;

export interface UsedTool {
  readonly tool: PolicyTool;
  readonly call: string;
}
