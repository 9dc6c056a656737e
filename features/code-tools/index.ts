/** Exports what other features may use of this one. */
export { hostNameOf, registerTools } from './host/register-tools.ts';
export { loadTools, provideSdk } from './host/load-tools.ts';
