/** What the core must know of the rows of the knowledge graph. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  ofUser: ({ own }) => ({
    before: [{ table: 'knowledge_facts', where: own, counted: 'knowledge' }],
    // Of documents that are gone nobody draws any more.
    after: [{ table: 'knowledge_entities', where: own }],
  }),
};
