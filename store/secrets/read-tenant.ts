/** Reads what a tenant keeps sealed and opens it: the only place where rows become values. */
import type { SecureCli } from '#features/secure-cli/rules/secure-cli.ts';
import type { Pool } from '#store/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { readSealedSecrets, secretPlace } from '#store/secret-store.ts';
import { type CliVariable, listSecureClis, secureCliPlace } from '#features/secure-cli/store.ts';

/** A program with its credentials; values may still refer to secrets. */
export interface OpenedCli {
  readonly cli: SecureCli;
  /** Undefined when they could not be opened. */
  readonly variables: readonly CliVariable[] | undefined;
}

export interface OpenedTenant {
  /** Secrets by name. */
  readonly values: ReadonlyMap<string, string>;
  readonly clis: readonly OpenedCli[];
  /** All that must not be shown. */
  readonly hidden: ReadonlySet<string>;
}

/** A row that does not open is nobody's to see; it is told to `onError`, and the tenant's others are not kept from it. */
export async function readTenant(
  { pool, sealer, onError }: { pool: Pool; sealer: Sealer; onError: (error: unknown) => void },
  tenant: string,
): Promise<OpenedTenant> {
  const open = (sealed: string, place: string): string | undefined => {
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
  const clis = (await listSecureClis(pool, tenant)).map(({ name, config, sealed }): OpenedCli => {
    const opened = open(sealed, secureCliPlace(tenant, name));
    const variables = opened === undefined ? undefined : (JSON.parse(opened) as CliVariable[]);
    return { cli: { name, ...config }, variables };
  });
  const given = clis.flatMap(({ variables = [] }) => variables.filter(({ kind }) => kind !== 'value'));
  const parts = given.flatMap(({ kind, value }) => (kind === 'file' ? keysIn(value) : []));
  return {
    values,
    clis,
    hidden: new Set([...values.values(), ...given.map(({ value }) => value), ...parts]),
  };
}

const MAX_KEYS = 100;

/** A program that reads a file of credentials shows a key out of it rather than the whole. */
function keysIn(file: string): readonly string[] {
  const keys = (file.match(/[A-Za-z0-9+/=_-]{24,}/g) ?? []).filter(
    (each) => /\d/.test(each) && /[A-Za-z]/.test(each),
  );
  return keys.slice(0, MAX_KEYS);
}
