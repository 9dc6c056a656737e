/** Settings that the tests of the shell judge begin from. */
import type { ShellRules } from '@tempoclaw/shell-judge';

/** Everything is on, and a person is asked about what is not known. */
export const DEFAULT_RULES: ShellRules = {
  security: 'full',
  ask: 'on-miss',
  allowlist: [],
  categoriesOff: [],
  deniedPaths: ['.state'],
};

/** Nobody is asked: only the deny categories hold. */
export const UNATTENDED: ShellRules = { ...DEFAULT_RULES, ask: 'off', deniedPaths: [] };
