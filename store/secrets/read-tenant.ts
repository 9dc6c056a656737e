/** Reads what a tenant keeps sealed and opens it: the only place where rows become values. */
import type { Pool } from '#store/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { readSealedSecrets, secretPlace } from '#store/secret-store.ts';

/** Opens what is bound to `place`; undefined when it does not open. */
export type OpenSealed = (sealed: string, place: string) => string | undefined;

/** What a feature keeps sealed for tenants beside their secrets. */
export interface SealedPart<Opened = unknown> {
  read(pool: Pool, tenant: string, open: OpenSealed): Promise<Opened>;
  /** The values of it that nobody may be shown. */
  hidden(opened: Opened): readonly string[];
}

export interface OpenedTenant {
  /** Secrets by name. */
  readonly values: ReadonlyMap<string, string>;
  readonly parts: ReadonlyMap<SealedPart, unknown>;
  /** All that must not be shown. */
  readonly hidden: ReadonlySet<string>;
}

export interface ReadTenantDeps {
  readonly pool: Pool;
  readonly sealer: Sealer;
  readonly sealedParts: readonly SealedPart[];
  readonly onError: (error: unknown) => void;
}

/** A row that does not open is nobody's to see; it is told to `onError`, and the tenant's others are not kept from it. */
export async function readTenant(
  { pool, sealer, sealedParts, onError }: ReadTenantDeps,
  tenant: string,
): Promise<OpenedTenant> {
  const open: OpenSealed = (sealed, place) => {
    try {
      return sealer.open(sealed, place);
    } catch (error) {
      onError(new Error(`${place} cannot be opened`, { cause: error }));
      return undefined;
    }
  };
  const values = new Map<string, string>();
  for (const { name, sealed } of await readSealedSecrets(pool, tenant)) {
    const value = open(sealed, secretPlace(tenant, name));
    if (value !== undefined) values.set(name, value);
  }
  const parts = new Map<SealedPart, unknown>();
  const hidden = [...values.values()];
  for (const part of sealedParts) {
    const opened = await part.read(pool, tenant, open);
    parts.set(part, opened);
    hidden.push(...part.hidden(opened));
  }
  return { values, parts, hidden: new Set(hidden) };
}
