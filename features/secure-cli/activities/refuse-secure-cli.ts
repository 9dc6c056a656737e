/** Checks every plain command: programs with credentials run only through credentialed_exec (SH-4). */
import { findSecured } from '../rules/find-secured.ts';
import { mayUse, type SecureCli } from '../rules/secure-cli.ts';
import { type ToolFailure, toolError } from '#domain/tool.ts';
import type { SecureClis } from './secure-clis.ts';

/** Why the command must not run, or undefined. If that cannot be determined, it refuses (fails closed). */
export async function refuseSecureCli(
  secureClis: Pick<SecureClis, 'list'>,
  call: { readonly tenant: string; readonly agent: string },
  command: string,
): Promise<ToolFailure | undefined> {
  let clis: readonly SecureCli[];
  try {
    clis = await secureClis.list(call.tenant);
  } catch {
    // The database's own message is for operators, who see it where the query runs.
    return toolError('ExecutionFailed', 'Secure CLI gate temporarily unavailable. Retry in a moment.');
  }
  const reason = secureCliReason(clis, call.agent, command);
  return reason === undefined ? undefined : toolError('PermissionDenied', reason);
}

/** Does the same with programs that are already known. */
export function secureCliReason(
  clis: readonly SecureCli[],
  agent: string,
  command: string,
): string | undefined {
  const found = findSecured(command, new Set(clis.map((cli) => cli.name)));
  if (!found) return undefined;
  if (found.kind === 'too_deep') return 'Command nesting too deep';
  const cli = clis.find(({ name }) => name === found.name);
  return cli && mayUse(cli, agent)
    ? `${found.name} has credentials and is run by credentialed_exec only: give it binary "${found.name}" and its arguments.`
    : grantNeeded(found.name);
}

/** The words of GoClaw (test/vectors/credentialed-exec.json). */
export function grantNeeded(name: string): string {
  return `Binary "${name}" requires a secure CLI grant. Ask admin to grant access to this agent.`;
}
