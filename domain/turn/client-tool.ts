/**
 * Tools that the sender of a message runs (IN-3): the model may call them in the turn, which then waits until the sender
 * answers with the result.
 */
import type { clientToolSchema } from '../schema/client-tool.ts';
import type { Kept } from '../schema/scalars.ts';

export type ClientTool = Kept<typeof clientToolSchema>;

export const CLIENT_TOOL_LIMITS = {
  tools: 128,
  /** UTF-16 units of all definitions as JSON; each step sends them to the model. */
  length: 131_072,
} as const;
