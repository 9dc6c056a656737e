/** What gates judge, wherever it was found. */
import type { AgentConfig } from '#domain/agent.ts';
import type { QualityGate } from '#domain/gate/gate.ts';
import type { MessageContext } from '#domain/turn/turn.ts';

/** Work that must pass gates, whoever did it. */
export interface GatedWork {
  /** The session in which it was done, and its last turn; null when no session of ours did it. */
  readonly session: string;
  readonly turn: string | null;
  readonly agent: AgentConfig;
  readonly context: MessageContext;
  /** The team in whose workspace it was done, when it is a team's task. */
  readonly team?: string;
  readonly depth: number;
  readonly label: string;
  readonly task: string;
  readonly output: string;
  readonly gates: readonly QualityGate[];
}
