/** `TEST_ENGINE=plain`: workers without the fast path, and the SDK's own as it is. */

export function isPlainEngine(): boolean {
  return process.env['TEST_ENGINE'] === 'plain';
}

/** Variables of workers, which say so. */
export function engineVariables(): Readonly<Record<string, string>> {
  return isPlainEngine() ? { TEMPOCLAW_FAST_PATH: 'false', TEMPOCLAW_STACK_TRACES: 'true' } : {};
}
