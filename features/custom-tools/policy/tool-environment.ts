/** The environment of a custom tool, sealed in its row and opened for one run. */
import type { Sealer } from '#store/seal.ts';

export type Environment = Readonly<Record<string, string>>;

export function sealEnvironment(sealer: Sealer, tenant: string, toolId: string, env: Environment): string {
  return sealer.seal(JSON.stringify(env), placeOf(tenant, toolId));
}

/** Resolves `secret://NAME`. @throws Error when it does not open, SecretProblem when a secret does not exist. */
export async function openEnvironment(
  deps: { readonly sealer: Sealer; readonly resolve: (tenant: string, text: string) => Promise<string> },
  tenant: string,
  toolId: string,
  sealed: string,
): Promise<Environment> {
  const opened = JSON.parse(deps.sealer.open(sealed, placeOf(tenant, toolId))) as Environment;
  const resolved: Record<string, string> = {};
  for (const [name, value] of Object.entries(opened)) resolved[name] = await deps.resolve(tenant, value);
  return resolved;
}

/** What the ciphertext is bound to: it opens only for this row of this tenant. */
function placeOf(tenant: string, toolId: string): string {
  return `${tenant}/custom_tools/${toolId}`;
}
