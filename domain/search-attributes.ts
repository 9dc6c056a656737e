/**
 * Search attributes by which people filter in the Temporal web UI (IN-5). They are registered at start; all are plain
 * text, none is secret.
 */
export const SEARCH_ATTRIBUTES = {
  TempoclawTenant: 'Keyword',
  TempoclawAgent: 'Keyword',
  TempoclawSession: 'Keyword',
  TempoclawUser: 'Keyword',
  TempoclawTeam: 'Keyword',
  TempoclawState: 'Keyword',
} as const;

/** Only approvals have `pending` and `escalated`. */
export type WorkState = 'running' | 'waiting_approval' | 'pending' | 'escalated';
