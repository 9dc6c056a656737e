/**
 * Knowledge: entities and relations that a model extracts from memory. They have the same owners as the documents that
 * state them.
 */

/** The limits of an extraction and of a graph. */
export const KNOWLEDGE_LIMITS = {
  /** Characters. */
  name: 200,
  type: 60,
  /** Aliases that a document adds at once, and that an entity has at most from documents. */
  aliases: 10,
  names: 50,
  /** Entities of one part of a document. */
  entities: 60,
  relations: 100,
  /** Parts of one document that are read. */
  parts: 300,
  /** Relations and mentions of one owner; further ones are not read. */
  facts: 200_000,
} as const;

/** From one entity to another over relations in either direction. */
export const MAX_KNOWLEDGE_DEPTH = 5;

/** The key by which names are the same. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** Normalizes types of entities and relations: `Works at` is `works_at`. */
export function typeKey(type: string): string {
  return nameKey(type).replace(/[\s_-]+/g, '_');
}

/** An entity that a part of a document names. */
export interface DrawnEntity {
  readonly type: string;
  /** The first one is shown. */
  readonly names: readonly string[];
  /** Line in the part, from 0. */
  readonly line: number;
}

export interface DrawnRelation {
  /** Indexes in the list of entities. */
  readonly from: number;
  readonly to: number;
  readonly type: string;
  readonly line: number;
  readonly toLine: number;
  /** ISO 8601, as far as the text states it. */
  readonly validFrom: string | undefined;
  readonly validTo: string | undefined;
  readonly isSingle: boolean;
}

export interface DrawnFacts {
  readonly entities: readonly DrawnEntity[];
  /** Relations sorted by line. */
  readonly relations: readonly DrawnRelation[];
}
