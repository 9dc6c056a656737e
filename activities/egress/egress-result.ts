/** Converts failures of requests to results of a tool, as the model reads them. */
import { toolError, type ToolResult } from '#domain/tool.ts';
import { EgressError } from '@tempoclaw/egress';

/** Rethrows errors that are not an EgressError. */
export function egressResult(error: unknown): ToolResult {
  if (!(error instanceof EgressError)) throw error;
  if (error.isRefused) return toolError('PermissionDenied', error.message);
  return toolError(error.rule === 'timeout' ? 'Timeout' : 'ExecutionFailed', error.message);
}
