/** The Nexus service `tempoclaw`, as callers see it (docs/nexus.md). */
import { operation, service } from 'nexus-rpc';
import type { TurnOutput } from './contract.ts';

export interface RunTurnInput {
  readonly text: string;
  /** By default `main`. */
  readonly agent?: string;
  /** The conversation that the message continues; by default a new one. */
  readonly session?: string;
}

export const tempoclaw = service('tempoclaw', {
  runTurn: operation<RunTurnInput, TurnOutput>(),
});
