/** Exports what other features may use of this one. */
export { hostNameOf, registerTools } from './host/register-tools.ts';
export type { CodeHookDefinition, CodeToolDefinition } from './schema.ts';
export { hasCode, loadFolder } from './host/load-folder.ts';
