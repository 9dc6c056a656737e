/** What tools and hooks of your own are written with: `import { hook, openapi, tool, z } from 'tempoclaw'`. */
export { z } from 'zod';
export { openapi } from './openapi/openapi.ts';
export type { OpenapiOptions, Operation } from './openapi/options.ts';
export { type CodeHook, hook, type HookContext, type HookDecision, type HookSpec } from './sdk/hook.ts';
export { type CodeTool, type Replay, tool, type ToolContext, type ToolSpec } from './sdk/tool.ts';
