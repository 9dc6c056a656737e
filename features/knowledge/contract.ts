/** TL knowledge: entities and relations that a model draws from memory, of the same owners as the documents that say them. */

/** What an extraction and a graph have at most. */
export const KNOWLEDGE_LIMITS = {
  /** Characters. */
  name: 200,
  type: 60,
  /** That a document gives at once, and that an entity has at most from documents. */
  aliases: 10,
  names: 50,
  /** Of one part of a document. */
  entities: 60,
  relations: 100,
  /** Parts of one document that are read. */
  parts: 300,
  /** Of one owner, relations and mentions; what comes then is not read. */
  facts: 200_000,
} as const;

/** From one entity to another over relations in either direction. */
export const MAX_KNOWLEDGE_DEPTH = 5;

/** By which names are the same. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** Types of entities and relations: `Works at` is `works_at`. */
export function typeKey(type: string): string {
  return nameKey(type).replace(/[\s_-]+/g, '_');
}

/** An entity that a part of a document names. */
export interface DrawnEntity {
  readonly type: string;
  /** The first is the one to show. */
  readonly names: readonly string[];
  /** From 0 in the part. */
  readonly line: number;
}

export interface DrawnRelation {
  /** Places in the list of entities. */
  readonly from: number;
  readonly to: number;
  readonly type: string;
  readonly line: number;
  readonly toLine: number;
  /** ISO 8601, as far as the text says. */
  readonly validFrom: string | undefined;
  readonly validTo: string | undefined;
  readonly isSingle: boolean;
}

export interface DrawnFacts {
  readonly entities: readonly DrawnEntity[];
  /** By line. */
  readonly relations: readonly DrawnRelation[];
}

/** As callers see it (`GET …/knowledge/status`). */
export interface KnowledgeStatus {
  /** Documents of memory that were not read for facts as they are, where the agent has a model for that; 0: all were. */
  readonly pending: number;
  readonly entities: number;
  readonly relations: number;
}
