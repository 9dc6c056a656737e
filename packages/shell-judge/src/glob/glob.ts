/** Globs over names and over paths. */
export { matchGlob } from './match-glob.ts';
export { compileGlob } from './path-glob.ts';
