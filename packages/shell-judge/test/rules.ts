/** Settings that the tests of the shell judge begin from. */
import type { ShellRules } from '@tempoclaw/shell-judge';

/** What an agent has whose owner set nothing. */
export const DEFAULT_RULES: ShellRules = {
  security: 'full',
  ask: 'on-miss',
  allowlist: [],
  categoriesOff: [],
  deniedPaths: ['.tempoclaw'],
};

/** Nobody is asked: only the deny categories hold. */
export const UNATTENDED: ShellRules = { ...DEFAULT_RULES, ask: 'off', deniedPaths: [] };
