/**
 * The conformance suite of MCP: how to get it, and which checks our server and client do not meet, each with its
 * reason.
 */
import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment, userCacheDir } from '#config';

const run = promisify(execFile);
const PACKAGE = '@modelcontextprotocol/conformance';
const VERSION = '0.2.0-alpha.12';

export const SUITE = {
  /** Fewest checks that must pass. */
  passes: { '2025-11-25': 39, '2026-07-28': 125 },

  /** The program's path; it is installed once into the user's cache. */
  async install(): Promise<string> {
    const folder = join(userCacheDir(), `test-mcp-conformance-${VERSION}`);
    const program = join(folder, 'node_modules', PACKAGE, 'dist', 'index.js');
    const isThere = (): Promise<boolean> =>
      access(program).then(
        () => true,
        () => false,
      );
    if (await isThere()) return program;
    // It is made aside and moved into place, so that a partial one is never used.
    const part = `${folder}.${process.pid}`;
    try {
      await mkdir(part, { recursive: true });
      await run(
        'npm',
        ['install', '--prefix', part, '--ignore-scripts', '--no-audit', `${PACKAGE}@${VERSION}`],
        {
          env: childEnvironment({}),
          timeout: 200_000,
        },
      );
      await rename(part, folder).catch(async (error: unknown) => {
        if (!(await isThere())) throw error;
      });
    } finally {
      await rm(part, { recursive: true, force: true });
    }
    return program;
  },
};

const PROMPTS = 'prompts are not offered';
const COMPLETION = 'completion is not offered';
const CONTENT = 'tools give text; the suite asks for a tool that gives other content';
const RESOURCE = 'the suite reads resources of its own; approvals are the ones there are';
const ASKING =
  'needs a tool that asks; what is asked of a client here are approvals, and neither sampling nor roots';
const FIXTURE = 'needs a tool that only a server for tests has';
const LISTENING = 'there is nothing to subscribe to, so that a stream for it is refused';
const SCHEMA = 'needs a tool with $defs; arguments of tools are plain objects';

const BOTH = {
  'completion-complete': COMPLETION,
  'json-schema-2020-12-tool-found': SCHEMA,
  'prompts-get-embedded-resource': PROMPTS,
  'prompts-get-simple': PROMPTS,
  'prompts-get-with-args': PROMPTS,
  'prompts-get-with-image': PROMPTS,
  'prompts-list': PROMPTS,
  'resources-read-binary': RESOURCE,
  'resources-read-text': RESOURCE,
  'resources-templates-read': RESOURCE,
  'tools-call-audio': CONTENT,
  'tools-call-embedded-resource': CONTENT,
  'tools-call-image': CONTENT,
  'tools-call-mixed-content': CONTENT,
};

const SCHEMAS = 'added after the release; needs a tool that is called with its own schema';

/** Scenarios for clients that do not apply to the worker's. All others pass, with at least this many checks. */
export const CLIENT = {
  passes: { '2025-11-25': 10, '2026-07-28': 45 },
  leftOut: (scenario: string): string | undefined => {
    if (scenario.startsWith('auth/'))
      return 'a login (OAuth) is begun by a person at the API and kept in rows; features/mcp/test/mcp-logins.test.ts has it';
    return scenario === 'json-schema-2020-12-preservation' ? SCHEMAS : undefined;
  },
} as const;

/** Failing checks by revision of the protocol: `{check: reason}`. */
export const UNMET: Readonly<Record<'2025-11-25' | '2026-07-28', Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    ...BOTH,
    'elicitation-sep1034-general': ASKING,
    'elicitation-sep1330-general': ASKING,
    'logging-set-level': 'logging is not offered',
    'resources-subscribe': 'subscriptions need a session, and the server is stateless',
    'resources-unsubscribe': 'subscriptions need a session, and the server is stateless',
    'tools-call-elicitation': ASKING,
    'tools-call-sampling': ASKING,
    'tools-call-with-logging': 'logging is not offered',
  },
  '2026-07-28': {
    ...BOTH,
    'sep-2243-server-decode-base64': FIXTURE,
    'sep-2243-server-no-xmcp-tool': FIXTURE,
    'sep-2243-server-reject-invalid-param-chars': FIXTURE,
    'sep-2243-server-reject-param-mismatch': FIXTURE,
    'sep-2243-server-validate-param-match': FIXTURE,
    'sep-2322-elicitation-incomplete': ASKING,
    'sep-2322-list-roots-incomplete': ASKING,
    'sep-2322-multi-round-r1': ASKING,
    'sep-2322-multiple-inputs-incomplete': ASKING,
    'sep-2322-non-tool-incomplete': ASKING,
    'sep-2322-reject-tampered-state': ASKING,
    'sep-2322-request-state-incomplete': ASKING,
    'sep-2322-respect-client-capabilities': ASKING,
    'sep-2322-result-type-included': ASKING,
    'sep-2322-sampling-incomplete': ASKING,
    'sep-2549-prompts-list-caching-hints': PROMPTS,
    'sep-2575-http-server-no-independent-requests-on-stream': FIXTURE,
    'sep-2575-missing-capability-http-400': FIXTURE,
    'sep-2575-server-no-log-without-loglevel': 'logging is not offered',
    'sep-2575-server-rejects-undeclared-capability': FIXTURE,
    'sep-2575-server-sends-subscription-ack': LISTENING,
    'sep-2575-server-tags-subscription-id': LISTENING,
    'sep-2663-mrtr-synchronous-before-task-creation': ASKING,
    'sep-2663-server-returns-missing-capability-when-required': 'no tool needs a client that takes tasks',
    'sep-2663-tasks-get-status-failed': FIXTURE,
    'sep-2663-tasks-get-status-input-required': ASKING,
    'tasks-mrtr-partial-fulfillment': ASKING,
    'tasks-mrtr-tasks-update-resumes': ASKING,
    'tasks-result-type-complete-on-non-task-responses': ASKING,
  },
};
