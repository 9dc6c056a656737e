/**
 * The tables of the feature for Kysely, generated from the schema by
 * `TEST_WRITE=1 npm test -- test/store/tables.test.ts` and checked by that test.
 */
import type { Json } from '#store/postgres/column-types.ts';
import type { CanvasStep } from '#features/canvas/contract.ts';

declare module '#store/tables.ts' {
  interface Tables {
    canvases: {
      tenant_id: string;
      session_key: string;
      version: number;
      steps: Json<readonly CanvasStep[]>;
      last_call: string;
    };
  }
}
