/** Ending of the names of our own source files: an installed package has them compiled. */
export const SOURCE_ENDING = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
