/** Exports what other features may use of this one. */
export { hostNameOf, registerTools } from './host/register-tools.ts';
export type { Reversals } from './reversals.ts';
export { loadFolder } from './host/load-folder.ts';
