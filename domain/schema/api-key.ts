/** The scopes that an API key may have. */

/** `admin` includes the others. */
export const SCOPES = ['read', 'run', 'approve', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];
