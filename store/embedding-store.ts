/** Vectors of texts as rows, by tenant, model and digest of the text (DE-2), and the use of the model. */
import { createHash } from 'node:crypto';
import type { ModelUse } from '#domain/budget/model-use.ts';
import type { TurnPlace } from './turns/message-store.ts';
import type { Pool } from './postgres/pool.ts';
import { execute, readRows } from './postgres/statements.ts';

type Vector = readonly number[];

export interface EmbeddingStore {
  /** Vectors by text; missing ones are left out. */
  find(tenant: string, model: string, texts: readonly string[]): Promise<ReadonlyMap<string, Vector>>;
  /** Records the use for the turn, or for the agent. Existing vectors stay, so a repeat only records its use again. */
  save(
    tenant: string,
    place: TurnPlace | { readonly agent: string },
    vectors: readonly (readonly [text: string, vector: Vector])[],
    use: ModelUse,
  ): Promise<void>;
}

/** Vectors are requested again after this time: texts change, and unused vectors are removed. */
const KEPT_DAYS = 90;

export function createEmbeddingStore(pool: Pool): EmbeddingStore {
  return {
    async find(tenant, model, texts) {
      const byDigest = new Map(texts.map((text) => [digestOf(text).toString('hex'), text]));
      const rows = await readRows<{ digest: Buffer; vector: Buffer }>(pool)`
        select digest, vector from embeddings where tenant_id = ${tenant} and model = ${model}
          and digest = any (${texts.map(digestOf)}::bytea[])`;
      return new Map(
        rows.flatMap(({ digest, vector }) => {
          const text = byDigest.get(digest.toString('hex'));
          return text === undefined ? [] : [[text, fromBytes(vector)] as const];
        }),
      );
    },

    async save(tenant, place, vectors, use) {
      const { session, turn } = 'agent' in place ? { session: '', turn: '' } : place;
      const noted = 'agent' in place ? { ...use, agent: place.agent } : use;
      const digests = vectors.map(([text]) => digestOf(text));
      const bytes = vectors.map(([, vector]) => toBytes(vector));
      await execute(pool)`
        with old as (delete from embeddings
          where tenant_id = ${tenant} and created_at < now() - make_interval(days => ${KEPT_DAYS})),
        new as (insert into embeddings (tenant_id, model, digest, vector)
          select ${tenant}, ${use.model}, v.digest, v.vector
          from unnest(${digests}::bytea[], ${bytes}::bytea[]) v (digest, vector) on conflict do nothing)
        select note_model_uses(${tenant}, ${session}, ${turn}, ${JSON.stringify([noted])})`;
    },
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function toBytes(vector: Vector): Buffer {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes;
}

function fromBytes(bytes: Buffer): Vector {
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}
