/** Programs with their opened credentials, which the vault keeps in memory and hides (SC-2). */
import type { SealedPart } from '#store/secrets/read-tenant.ts';
import type { SecureCli } from './rules/secure-cli.ts';
import { type CliVariable, listSecureClis, secureCliPlace } from './store.ts';
import { listUserCredentials, userCredentialsPlace, type UserVariables } from './user-credentials.ts';

/** A program with its credentials; values may still refer to secrets. */
export interface OpenedCli {
  readonly cli: SecureCli;
  /** Undefined when they could not be opened. */
  readonly variables: readonly CliVariable[] | undefined;
  /** What users have saved, by user; those that could not be opened are left out. */
  readonly users: ReadonlyMap<string, SavedVariables>;
}

export interface SavedVariables {
  readonly values: UserVariables;
  readonly savedAt: number;
}

export const sealedPart: SealedPart<readonly OpenedCli[]> = {
  async read(db, open) {
    const saved = await listUserCredentials(db);
    return (await listSecureClis(db)).map(({ name, config, sealed }) => {
      const opened = open(sealed, secureCliPlace(db.tenant, name));
      const variables = opened === undefined ? undefined : (JSON.parse(opened) as CliVariable[]);
      const users = new Map<string, SavedVariables>();
      for (const row of saved) {
        if (row.name !== name) continue;
        const own = open(row.sealed, userCredentialsPlace(db.tenant, name, row.user_id));
        if (own === undefined) continue;
        users.set(row.user_id, { values: JSON.parse(own) as UserVariables, savedAt: row.given_at.getTime() });
      }
      return { cli: { name, ...config }, variables, users };
    });
  },
  hidden(clis) {
    const values = clis.flatMap(({ variables = [] }) => variables.filter(({ kind }) => kind !== 'value'));
    return [
      ...values.flatMap(({ kind, value }) => (kind === 'file' ? [value, ...keysIn(value)] : [value])),
      ...clis.flatMap(({ users }) => [...users.values()].flatMap((saved) => Object.values(saved.values))),
    ];
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
