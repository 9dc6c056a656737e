/** PO-5: what a session has read, for rules that look back. */
import type { PolicyTool } from './tool-groups.ts';

/**
 * What comes from outside by no tool that is for it: a stranger's message, a document or a file that was written after something from
 * outside was read, a command that reads the network. They stand among the tools that a session has read, and rules name them as tools.
 */
export const OUTSIDE_MESSAGE = 'outside_message';
export const OUTSIDE_DOCUMENT = 'outside_document';
export const OUTSIDE_FILE = 'outside_file';
export const OUTSIDE_COMMAND = 'outside_command';

/** From a tool's name to the first call of it whose result the session has, or that came to it with what another session says. */
export type UsedTools = Readonly<Record<string, string>>;

export interface UsedTool {
  readonly tool: PolicyTool;
  readonly call: string;
}
