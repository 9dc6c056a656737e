/** The contract of `nexusTurn`: one operation, which is open until its turn has ended. */
import type { TurnOutcome } from '#domain/turn/turn.ts';

export const NEXUS_TURN = 'nexusTurn';

/** The result of an operation. */
export interface TurnOutput {
  readonly turn_id: string;
  readonly session: string;
  readonly status: TurnOutcome['status'];
  /** The answer; null when there is none. */
  readonly text: string | null;
  /** Why the turn failed. */
  readonly error?: { readonly code: string; readonly message: string };
}

export interface FollowedTurn {
  readonly tenant: string;
  readonly session: string;
  readonly turn: string;
}

export interface NexusTurnInput extends FollowedTurn {
  /** Passed from run to run: when the operation began, in milliseconds since 1970, and whether it was cancelled. */
  readonly since?: number;
  readonly isCancelled?: boolean;
}

export interface NexusActivities {
  /** Follows the turn for a while; null when it goes on. */
  follow_turn(turn: FollowedTurn): Promise<TurnOutput | null>;
  /** Safe to repeat. */
  stop_turn(turn: FollowedTurn): Promise<void>;
}

/** The prefix of the ids of all workflows of an endpoint. */
export function operationsOf(tenant: string, endpoint: string): string {
  return `nexus/${tenant}/${endpoint}/`;
}

/** Seconds until a turn is looked at again: a tenth of its age. */
export function lookAgainSeconds(ageMs: number): number {
  return Math.min(60, Math.max(1, Math.round(ageMs / 10_000)));
}
