/** `TEST_ENGINE=plain` means workers without the fast path. */

export function isPlainEngine(): boolean {
  return process.env['TEST_ENGINE'] === 'plain';
}

/** Variables of workers that turn it off. */
export function engineVariables(): Readonly<Record<string, string>> {
  return isPlainEngine() ? { TEMPOCLAW_FAST_PATH: 'false' } : {};
}
