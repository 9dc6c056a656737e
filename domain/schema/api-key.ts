/** What an API key may be made for. */

/** `admin` includes the others. */
export const SCOPES = ['read', 'run', 'approve', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];
