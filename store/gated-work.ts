/** What gates judge, wherever it was found. */
import type { AgentConfig } from '#domain/agent.ts';
import type { QualityGate } from '#domain/gate.ts';
import type { MessageContext } from '#domain/turn.ts';

/** Work that is to pass gates, whoever did it. */
export interface GatedWork {
  /** In which it was done, and its last turn; null when none of ours has done it. */
  readonly session: string;
  readonly turn: string | null;
  readonly agent: AgentConfig;
  readonly context: MessageContext;
  /** In whose workspace it was done, when it is a team's task. */
  readonly team?: string;
  readonly depth: number;
  readonly label: string;
  readonly task: string;
  readonly output: string;
  readonly gates: readonly QualityGate[];
}
