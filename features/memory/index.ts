/** Exports what other features may use of this one. */
export { askToRecord, BEGINS_MS, type RecordDeps, type RecordRequest } from './activities/ask-to-record.ts';
export { memoryOwner } from './memory-owner.ts';
export { shownMemory } from './activities/shown-memory.ts';
export type { Chunk } from './rules/chunk-text.ts';
export { hiddenDocuments } from './store/memory-search.ts';
export { startIndexing } from './temporal.ts';
