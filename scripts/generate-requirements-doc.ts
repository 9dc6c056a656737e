/**
 * Makes docs/requirements.md: what each requirement promises, and the tests that name it. Fails for a requirement that
 * no test names.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { keepPage } from './generated-page.ts';
import { TESTS } from './test-files.ts';

const GROUPS = {
  'Running one tool call': {
    'EX-1':
      'A registry finds tools by name, in the order of their registration. Arguments are validated before anything runs.',
    'EX-2': 'A call has a context of its own: tenant, agent, user, session, channel, workspace, sandbox.',
    'EX-3':
      'Each call is looked up, judged, limited, approved, run, scrubbed, cut and recorded, in this order.',
    'EX-4': 'A tool error has a stable code and is a result for the model, never a failed turn.',
    'EX-5': 'A result is cut at 64 KB on a character boundary and says where the whole is kept.',
    'EX-6': 'A rate limit by session refuses a call before it runs and says when to try again.',
    'EX-7':
      'A turn has a limit of iterations, runs parallel calls in parallel, and ends a model that repeats itself.',
  },
  'Files and workspaces': {
    'VF-1':
      'Context files live in the database, per agent and per user, and generated files are never removed by a user’s.',
    'VF-2': 'Memory lives in the database and is indexed durably in the background.',
    'VF-3': 'A path is served from context files, memory, the sandbox or the host, in this order.',
    'VF-4':
      'A path stays in the workspace, checked on the opened file; denied prefixes cannot be read, written or listed.',
    'VF-5': 'A workspace is of an agent and user, of a team, or shared, by setting.',
    'VF-6': 'A workspace follows the work: one worker holds it, snapshots it, and the next one restores it.',
  },
  Commands: {
    'SH-1':
      'A parsed command is judged by deny categories; quoting tricks are caught, and mentions in quotes are not.',
    'SH-2':
      'Commands are denied, allowed by a list or asked about; “always” adds the exact file and arguments.',
    'SH-3': 'Commands run in a bounded container, in bubblewrap or on the host, by the agent’s setting.',
    'SH-4': 'A program with credentials runs without a shell, and nobody sees the credentials.',
    'SH-5': 'A cancelled turn ends its commands with all their processes.',
    'SH-6':
      'A command outside a sandbox cannot decide approvals or read the state folder or other environments.',
    'SH-7': 'A command reaches no other process, no port of TempoClaw and no file of another user.',
  },
  Policy: {
    'PO-1': 'Allow steps, deny lists and per-request lists apply in a fixed order.',
    'PO-2': 'Profiles, groups and globs name tools.',
    'PO-3': 'Policy holds at the call, not only when tools are listed.',
    'PO-4': 'Explain says which step decided and why; backtest shows what another policy would change.',
    'PO-5': 'Rules can look back at what the session has read.',
  },
  Secrets: {
    'SC-1': 'Known forms of secrets are replaced, and look-alikes survive.',
    'SC-2': 'Every value that is decrypted for a call is hidden in its raw and encoded forms.',
    'SC-3': 'No secret reaches Temporal’s history, Postgres, logs, events or webhooks.',
    'SC-4': 'What came from outside is marked as untrusted in what the model reads, and stays marked.',
  },
  Subagents: {
    'SA-1': 'Subagents have limits by tenant, depth and parent; a refusal names the limit.',
    'SA-2': 'An agent spawns, runs, lists, steers, cancels and awaits subagents.',
    'SA-3': 'A subagent is always denied some tools, and a leaf some more.',
    'SA-4': 'Results return to the parent once, and a child never has more rights than its parent.',
  },
  'Delegation and gates': {
    'DE-1': 'Links between agents have directions, limits and lists of users.',
    'DE-2':
      'A delegation runs synchronously or not, with the target’s own identity, and can be cancelled and listed.',
    'DE-3': 'The prompt names the agents that an agent can delegate to, or how to find them.',
    'DE-4': 'A generator and an evaluator work in rounds until the result is approved.',
    'DE-5': 'A conversation is handed to another agent and taken back.',
    'DE-6': 'Commands or agents judge results before they count, and send them back with feedback.',
  },
  Teams: {
    'TE-1': 'A team has a lead and members; results come back to the lead.',
    'TE-2':
      'Tasks have states, priorities and blockers without circles; the lead is woken once when all are done.',
    'TE-3': 'Of many claims one wins; a claim is a lease, and a late result is refused.',
    'TE-4': 'Tasks are reviewed, commented, attached to and asked about; every change is an audit event.',
    'TE-5': 'Messages of a team wake their addressee once.',
    'TE-6': 'Tasks are found by text and listed by status, owner and priority.',
  },
  MCP: {
    'MC-1': 'The client speaks stdio, SSE and streamable HTTP, and survives servers that go away.',
    'MC-2': 'Tools of servers have names with a prefix, and groups.',
    'MC-3': 'Grants by agent and user allow and deny tools; access is requested and approved.',
    'MC-4': 'Internal tools are hidden until a skill brings them in.',
    'MC-5': 'TempoClaw is an MCP server itself.',
  },
  'Custom tools': {
    'CU-1': 'A tool is made and changed over HTTP without a restart, for all agents or one.',
    'CU-2': 'Arguments are quoted into a command, which is judged and runs where commands run.',
  },
  Approvals: {
    'AP-1': 'An approval is a workflow of its own that shows the whole call.',
    'AP-2':
      'An approval is decided over HTTP, in a terminal, by a link or by any Temporal client; the first valid decision wins.',
    'AP-3': 'A decision approves, approves always, edits, rejects or responds.',
    'AP-4': 'Approvals have quorums, escalation and expiry, and are bound to the exact call.',
    'AP-5': 'A policy rule can ask about any tool.',
    'AP-6': 'Waiting takes no worker slot and no memory of a process.',
    'AP-7': 'Rules are proposed from decisions, with a backtest.',
  },
  Durability: {
    'DU-1': 'A kill of any process loses no accepted message, no decision and no finished result.',
    'DU-2': 'A `once` call whose worker died is never run again; its outcome is unknown.',
    'DU-3': 'History stays small: long sessions and turns keep the speed of their beginning.',
    'DU-4':
      'Messages during a turn queue, steer, interrupt, collect or are rejected; stops never hit the next turn.',
    'DU-5': 'Workers are replaced under running turns, and kept histories replay.',
    'DU-6':
      'A session is forked at any step with its files, and recorded and replayed as a test or under another model, prompt or policy, without keys and without effects.',
    'DU-7': 'Budgets are reserved before and settled after; at the limit the turn asks or stops.',
    'DU-8': 'Sessions and users are forgotten everywhere, with a receipt; agents are exported and imported.',
    'DU-9': 'What a turn has done is reversed, newest first, each effect once, as policy allows.',
    'DU-10':
      'A turn keeps its revision of the agent; a rollout gives one to some sessions first, and one command puts it back. A release upgrades an installed state in place, under load.',
    'DU-11':
      'A signed chain of the ledger is verified offline, green after forgetting; calls are frozen within two seconds.',
  },
  Interfaces: {
    'IN-1': 'The HTTP API has an OpenAPI document, problem answers, idempotency keys, pages and scoped keys.',
    'IN-2': 'Events stream with increasing ids, replay and heartbeats.',
    'IN-4': 'Webhooks are signed and retried; agents answer in chat services.',
    'IN-5': 'Temporal’s web UI shows readable ids, types, summaries and details.',
    'IN-6': 'The command line covers all of it, with tables and JSON.',
    'IN-8': 'There are metrics and logs with ids.',
    'IN-9': 'A key of a user reaches that user’s sessions only.',
    'IN-10':
      'People log in by OpenID Connect, and who speaks, not who began the session, decides tools and credentials.',
    'IN-13': 'Every verb is a signal too, and a closed run says what became of it.',
  },
  Models: {
    'MO-1': 'Providers have fallbacks, streaming, usage and costs; Temporal retries them.',
    'MO-2': 'A scripted model answers without a key.',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

const ID = /\b[A-Z]{2}-\d+\b/g;

/** Packages do not know our ids. This lists what the tests of each prove, besides the tests that name the ids. */
const PROVED_BY_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'packages/sandbox/test/box-life.test.ts': ['SH-3'],
  'packages/sandbox/test/bubblewrap.test.ts': ['SH-2', 'SH-3', 'SH-5'],
  'packages/sandbox/test/inside-box.test.ts': ['SH-3'],
  'packages/sandbox/test/reap-orphans.test.ts': ['SH-5'],
  'packages/sandbox/test/wall-bounds.test.ts': ['SH-3'],
  'packages/sandbox/test/wall.test.ts': ['SH-6', 'SH-7'],
  'packages/scrubber/test/any-embedding.test.ts': ['SC-1'],
  'packages/scrubber/test/long-texts.test.ts': ['SC-2'],
  'packages/scrubber/test/many-values.test.ts': ['SC-2'],
  'packages/scrubber/test/preview.test.ts': ['SC-3'],
  'packages/scrubber/test/registered-values.test.ts': ['SC-2'],
  'packages/scrubber/test/scrub-json.test.ts': ['SC-1', 'SC-3'],
  'packages/scrubber/test/scrub-stream.test.ts': ['SC-2'],
  'packages/scrubber/test/scrub-text.test.ts': ['SC-1'],
  'packages/shell-judge/test/corpus.test.ts': ['SH-1'],
  'packages/shell-judge/test/judge-command.test.ts': ['SH-1', 'SH-2', 'SH-6'],
  'packages/shell-judge/test/propose-allowlist-entry.test.ts': ['SH-2', 'SH-6'],
  'packages/shell-judge/test/reads-network.test.ts': ['PO-5'],
  'packages/shell-judge/test/run-files.test.ts': ['AP-4'],
};

/** Test files by the ids that they name. */
function filesById(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const file of globSync(TESTS).toSorted())
    for (const id of new Set([
      ...(PROVED_BY_PACKAGES[file] ?? []),
      ...(readFileSync(file, 'utf8').match(ID) ?? []),
    ]))
      found.set(id, [...(found.get(id) ?? []), file]);
  return found;
}

const SHOWN = 4;

function proofOf(files: readonly string[]): string {
  const shown = files.slice(0, SHOWN).map((file) => `[${nameOf(file)}](../${file})`);
  return files.length > SHOWN ? `${shown.join(', ')} and ${files.length - SHOWN} more` : shown.join(', ');
}

function nameOf(file: string): string {
  const [, name = file] = /([^/]+)\.test\.ts$/.exec(file) ?? [];
  const [, owner] = /^(?:features|packages)\/([^/]+)/.exec(dirname(file)) ?? [];
  return owner === undefined || name.includes(owner) ? name : `${owner}: ${name}`;
}

const proofs = filesById();
const ids = Object.values(GROUPS).flatMap((group) => Object.keys(group));
const unproven = ids.filter((id) => !proofs.has(id));
if (unproven.length > 0) {
  console.error(`no test names ${unproven.join(', ')}`);
  process.exit(1);
}

const groups = Object.entries(GROUPS).map(([title, rows]) => {
  const lines = Object.entries(rows).map(
    ([id, promise]) => `| ${id} | ${promise} | ${proofOf(proofs.get(id) ?? [])} |`,
  );
  return `## ${title}\n\n| id | promise | proved by |\n|---|---|---|\n${lines.join('\n')}\n`;
});
keepPage(
  'docs/requirements.md',
  `<!-- Made by scripts/generate-requirements-doc.ts; change that. -->
# Requirements

Tests and comments cite these ids. Each line says what TempoClaw promises, and which tests prove it. To run the tests of one id:

\`\`\`sh no-run: it takes some minutes
npm test -- $(grep -rl "AP-2" test features --include=*.test.ts)
\`\`\`

${groups.join('\n')}`,
);
