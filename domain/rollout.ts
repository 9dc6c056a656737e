/** DU-10: a revision of an agent that only some of its sessions get. */
import { Failure } from './errors.ts';

/** As the row of its agent has it, while it is in force. */
export interface Rollout {
  readonly id: string;
  /** The revision on its way; all others get that of the agent's row. */
  readonly revision: number;
  /** Of 100 users (or sessions of nobody), how many get it. */
  readonly share: number;
  /** These get it whatever the share is. */
  readonly users: readonly string[];
  readonly sessions: readonly string[];
  /** The rule by which it is put back by itself, such as `failed>5%`. */
  readonly abort?: string;
  readonly by: string;
  /** ISO time of its start. */
  readonly at: string;
}

/** @throws Failure Conflict while one is in force: what the agent is to be would be two things at once */
export function refuseInRollout(agent: { readonly key: string; readonly rollout: Rollout | null }): void {
  if (!agent.rollout) return;
  const { revision, share } = agent.rollout;
  throw new Failure(
    'Conflict',
    `Revision ${revision} of ${agent.key} is in a rollout (${share} %): finish it or put it back first (tempoclaw rollouts finish ${agent.key}, rollouts back ${agent.key})`,
  );
}
