/** PO-5: what a session has read, for rules that look back. */
import type { PolicyTool } from './tool-groups.ts';

/**
 * Content from outside that did not come from a tool for outside content. It is a stranger's message, a document or
 * file that was written after something from outside was read, or the output of a command that reads the network. They
 * are listed among the tools that a session has read, and rules name them like tools.
 */
export const OUTSIDE_MESSAGE = 'outside_message';
export const OUTSIDE_DOCUMENT = 'outside_document';
export const OUTSIDE_FILE = 'outside_file';
export const OUTSIDE_COMMAND = 'outside_command';

/**
 * Maps a tool's name to the first call of it whose result is in the session, or came into it with text of another
 * session.
 */
export type UsedTools = Readonly<Record<string, string>>;

export interface UsedTool {
  readonly tool: PolicyTool;
  readonly call: string;
}
