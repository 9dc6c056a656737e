/** `tempoclaw/feature/tool`: tools that run in the worker. */
export { z } from 'zod';
export { toolError, type ToolResult } from '#domain/tool.ts';
export { defineTool, type RunningCall, textField, type Tool } from '#policy/define-tool.ts';
