/** Reads and opens a tenant's sealed values: the only place where rows become values. */
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { readSealedSecrets, secretPlace } from '#store/secret-store.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';

/** Opens a value that is bound to `place`; undefined when it does not open. */
export type OpenSealed = (sealed: string, place: string) => string | undefined;

/** Values that a feature keeps sealed for tenants besides their secrets. */
export interface SealedPart<Opened = unknown> {
  read(db: TenantDb, open: OpenSealed): Promise<Opened>;
  /** Its values that nobody may see. */
  hidden(opened: Opened): readonly string[];
}

export interface OpenedTenant {
  /** Secrets by name. */
  readonly values: ReadonlyMap<string, string>;
  readonly parts: ReadonlyMap<SealedPart, unknown>;
  /** All values that must not be shown. */
  readonly hidden: ReadonlySet<string>;
}

export interface ReadTenantDeps {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly sealedParts: readonly SealedPart[];
  readonly onError: (error: unknown) => void;
}

/** A row that does not open is left out and reported to `onError`; the tenant's other rows are still read. */
export async function readTenant(
  { pool, sealer, sealedParts, onError }: ReadTenantDeps,
  tenant: string,
): Promise<OpenedTenant> {
  const db = forTenant(pool, tenant);
  const open: OpenSealed = (sealed, place) => {
    try {
      return sealer.open(sealed, place);
    } catch (error) {
      onError(new Error(`${place} cannot be opened`, { cause: error }));
      return undefined;
    }
  };
  const values = new Map<string, string>();
  for (const { name, sealed } of await readSealedSecrets(db)) {
    const value = open(sealed, secretPlace(tenant, name));
    if (value !== undefined) values.set(name, value);
  }
  const parts = new Map<SealedPart, unknown>();
  const hidden = [...values.values()];
  for (const part of sealedParts) {
    const opened = await part.read(db, open);
    parts.set(part, opened);
    hidden.push(...part.hidden(opened));
  }
  return { values, parts, hidden: new Set(hidden) };
}
