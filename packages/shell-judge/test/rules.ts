/** Settings with which the tests of the shell judge start. */
import type { ShellRules } from '@tempoclaw/shell-judge';

/** Everything is on, and a person is asked about unknown commands. */
export const DEFAULT_RULES: ShellRules = {
  security: 'full',
  ask: 'on-miss',
  allowlist: [],
  categoriesOff: [],
  deniedPaths: ['.state'],
};

/** Nobody is asked: only the deny categories apply. */
export const UNATTENDED: ShellRules = { ...DEFAULT_RULES, ask: 'off', deniedPaths: [] };
