/** What the core must know about the rows of the knowledge graph. */
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  ofUser: ({ own }) => ({
    before: [{ table: 'knowledge_facts', where: own, counted: 'knowledge' }],
    // Nothing extracts facts any more from documents that are gone.
    after: [{ table: 'knowledge_entities', where: own }],
  }),
};
