/** Who shares a sandbox (SH-3): the calls of one session, of one agent, or all of a tenant with the same workspace. */
import { createHash } from 'node:crypto';
import type { BoxOwner } from '@tempoclaw/sandbox';
import type { Sandbox } from '#domain/sandbox.ts';

/** The owner of a command; a RunningCall is one. */
export interface CommandOwner {
  readonly tenant: string;
  readonly agent: string;
  readonly sessionKey: string;
  /** Absolute path of the folder that the sandbox shows at MOUNT. */
  readonly workspace: string;
}

export function boxOwner(
  { tenant, agent, sessionKey, workspace }: CommandOwner,
  { scope }: Pick<Sandbox, 'scope'>,
): BoxOwner {
  const key = [
    tenant,
    scope,
    ...(scope === 'shared' ? [] : [agent]),
    ...(scope === 'session' ? [sessionKey] : []),
  ];
  const group = scope === 'session' ? boxGroup(tenant, sessionKey) : undefined;
  return { key, group, labels: { tenant, scope }, workspace };
}

/** The sandboxes of one session, not those of a wider scope. */
export function boxGroup(tenant: string, sessionKey: string): string {
  const text = JSON.stringify([tenant, sessionKey]);
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
