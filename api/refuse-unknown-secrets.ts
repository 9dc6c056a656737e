/**
 * Refuses a definition that refers to a secret which is not set, when it is written: what it defines would fail at each
 * use. A secret that is deleted later is missed then.
 */
import { Failure } from '#domain/errors.ts';
import { secretNamesIn } from '#domain/secret.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { findSecretNames } from '#store/secret-store.ts';

/** A field of the request, and the text in it that may refer to secrets. */
export type Referring = readonly (readonly [pointer: string, text: string | null | undefined])[];

/** @throws Failure Unprocessable */
export async function refuseUnknownSecrets(db: TenantDb, fields: Referring): Promise<void> {
  refuse(await secretProblems(db, fields));
}

export interface FieldProblem {
  readonly pointer: string;
  readonly message: string;
}

/** One query, and none for fields that refer to no secret. */
export async function secretProblems(db: TenantDb, fields: Referring): Promise<readonly FieldProblem[]> {
  const referred = fields.flatMap(([pointer, text]) =>
    secretNamesIn(text ?? '').map((name) => ({ pointer, name })),
  );
  if (referred.length === 0) return [];
  const known = new Set(await findSecretNames(db, [...new Set(referred.map(({ name }) => name))]));
  return referred
    .filter(({ name }) => !known.has(name))
    .map(({ pointer, name }) => ({
      pointer,
      message: `the secret "${name}" is not set; set it first: npx tempoclaw secrets set ${name || 'NAME'}`,
    }));
}

/** @throws Failure Unprocessable when there are any */
export function refuse(errors: readonly FieldProblem[]): void {
  const [first] = errors;
  if (first) throw new Failure('Unprocessable', `${first.pointer}: ${first.message}`, { errors });
}

/** Variables or headers by their names, as fields of the request. */
export function referringIn(
  place: string,
  values: Readonly<Record<string, string>> | null | undefined,
): Referring {
  return Object.entries(values ?? {}).map(([name, value]) => [`${place}/${name}`, value] as const);
}
