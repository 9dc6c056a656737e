/** What people filter by in the Temporal web UI (IN-5); registered at start, all of them plain words, none secret. */
export const SEARCH_ATTRIBUTES = {
  TempoclawTenant: 'Keyword',
  TempoclawAgent: 'Keyword',
  TempoclawSession: 'Keyword',
  TempoclawUser: 'Keyword',
  TempoclawTeam: 'Keyword',
  TempoclawState: 'Keyword',
} as const;

/** `pending` and `escalated` are an approval's. */
export type WorkState = 'running' | 'waiting_approval' | 'pending' | 'escalated';
