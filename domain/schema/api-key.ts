/** The scopes that an API key may have. */

/** `admin` includes the others. `metrics` is for keys of the operator's tenant: it reads `/metrics` and nothing else. */
export const SCOPES = ['read', 'run', 'approve', 'metrics', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];
