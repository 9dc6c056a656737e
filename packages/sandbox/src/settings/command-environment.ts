/**
 * The parts of our environment that a command sees: these names and nothing else, so no key and no database address.
 */

const PASSED =
  'PATH HOME USER LOGNAME LANG LANGUAGE TZ TMPDIR SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS'.split(' ');

/**
 * Programs must not wait for a person or a pager, and not use colours. git ignores folders that only look like a
 * repository, which text files can create, and starts no file watcher that a repository names.
 */
export const FIXED = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
  DEBIAN_FRONTEND: 'noninteractive',
};

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** `source` is the worker's own environment (from config.ts). */
export function commandEnvironment(
  source: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && (PASSED.includes(name) || name.startsWith('LC_'))) passed[name] = value;
  }
  return { PATH: DEFAULT_PATH, HOME: '/', LANG: 'C.UTF-8', ...passed, ...FIXED };
}
