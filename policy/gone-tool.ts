/** A tool that no longer exists, for the calls that were planned with it. */
import { z } from 'zod';
import { toolError } from '#domain/tool.ts';
import type { Tool } from './define-tool.ts';

/** The tool that runs calls whose own tool no longer exists. */
export function createGoneTool(name: string, why: string): Tool {
  return {
    name,
    description: why,
    group: 'custom',
    replay: 'once',
    gone: `${name} ${why}; the call has not run`,
    input: z.unknown(),
    limits: { duration: 'long', timeoutSeconds: 10 },
    run: async () => toolError('NotFound', why),
  };
}
