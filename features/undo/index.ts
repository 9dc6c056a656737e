/** What other features use of undo: what files had before calls wrote them. */
export { type KeptFile, listKeptFiles, readKeptFile } from './before-images.ts';
