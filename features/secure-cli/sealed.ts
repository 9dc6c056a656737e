/** Programs with their opened credentials, which the vault keeps in memory and hides (SC-2). */
import type { SealedPart } from '#store/secrets/read-tenant.ts';
import type { SecureCli } from './rules/secure-cli.ts';
import { type CliVariable, listSecureClis, secureCliPlace } from './store.ts';

/** A program with its credentials; values may still refer to secrets. */
export interface OpenedCli {
  readonly cli: SecureCli;
  /** Undefined when they could not be opened. */
  readonly variables: readonly CliVariable[] | undefined;
}

export const sealedPart: SealedPart<readonly OpenedCli[]> = {
  async read(db, open) {
    return (await listSecureClis(db)).map(({ name, config, sealed }) => {
      const opened = open(sealed, secureCliPlace(db.tenant, name));
      const variables = opened === undefined ? undefined : (JSON.parse(opened) as CliVariable[]);
      return { cli: { name, ...config }, variables };
    });
  },
  hidden(clis) {
    const values = clis.flatMap(({ variables = [] }) => variables.filter(({ kind }) => kind !== 'value'));
    return values.flatMap(({ kind, value }) => (kind === 'file' ? [value, ...keysIn(value)] : [value]));
  },
};

const MAX_KEYS = 100;

/** Keys within a file of credentials, because a program shows a key from it rather than the whole file. */
function keysIn(file: string): readonly string[] {
  const keys = (file.match(/[A-Za-z0-9+/=_-]{24,}/g) ?? []).filter(
    (each) => /\d/.test(each) && /[A-Za-z]/.test(each),
  );
  return keys.slice(0, MAX_KEYS);
}
