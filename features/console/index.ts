/** Exports what other features may use of this one. */
export { buildConsole } from './build-console.ts';
