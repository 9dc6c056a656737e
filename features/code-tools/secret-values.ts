/** The values of the secrets that a tool or a hook of a host names. */
import { HOST_LIMITS } from './contract.ts';

/** Replaces `secret://NAME` with secrets. */
export type ResolveOf = (tenant: string, text: string) => Promise<string>;

export async function secretValues(
  resolveOf: ResolveOf,
  tenant: string,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const values: Record<string, string> = {};
  for (const name of names) {
    const value = await resolveOf(tenant, `secret://${name}`);
    if (value.length > HOST_LIMITS.secret)
      throw new Error(`the secret ${name} has more than ${HOST_LIMITS.secret} characters`);
    values[name] = value;
  }
  return values;
}
