/** Exports what other features may use of this one. */
export type { HookHost, HostedHook } from './hook-host.ts';
