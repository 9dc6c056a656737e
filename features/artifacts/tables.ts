/**
 * The tables of the feature for Kysely, generated from the schema by
 * `TEST_WRITE=1 npm test -- test/store/tables.test.ts` and checked by that test.
 */
import type { Generated, Timestamp } from '#store/postgres/column-types.ts';

declare module '#store/tables.ts' {
  interface Tables {
    artifacts: {
      tenant_id: string;
      id: string;
      user_id: string | null;
      type: string;
      filename: string | null;
      digest: string;
      size: number;
      width: number | null;
      height: number | null;
      created_at: Generated<Timestamp>;
      brought_at: Generated<Timestamp>;
    };
  }
}
