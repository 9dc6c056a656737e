/** Exports what other features may use of this one. */
export type { MediaTools } from './reading/media-reading-tools.ts';
export { withMediaProblems } from './reading/reading-tool.ts';
