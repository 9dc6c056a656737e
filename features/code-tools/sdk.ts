/** What tools of your own are written with: `import { openapi, tool, z } from 'tempoclaw'`. */
export { z } from 'zod';
export { openapi } from './openapi/openapi.ts';
export type { OpenapiOptions, Operation } from './openapi/options.ts';
export { type CodeTool, type Replay, tool, type ToolContext, type ToolSpec } from './sdk/tool.ts';
