/**
 * PO-4: one case of any kind, read, judged and answered by the functions that the tools use. It runs and changes
 * nothing; a URL's name is resolved unless the case contains its addresses.
 */
import { registerValues, scrubText } from '@tempoclaw/scrubber';
import { judgeCommand, proposeAllowlistEntry, resolverAt, type ResolveProgram } from '@tempoclaw/shell-judge';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { Failure } from '#domain/errors.ts';
import { effectiveExec } from '#domain/policy/effective-exec.ts';
import {
  EXPLAIN_INPUTS,
  type ExplainAnswer,
  type ExplainKind,
  type explainPathSchema,
  type explainScrubSchema,
  type explainShellSchema,
} from '../schema/explain.ts';
import { sandboxOf } from '#domain/sandbox.ts';
import { alwaysWords } from '#domain/approval/approval.ts';
import { DEFAULT_PATH_RULES, type JudgePath, PATH_OPS, type PathOp } from '#domain/files/path-rules.ts';
import { scopeOf } from './explain-scope.ts';
import { explainTool, type ExplainToolDeps } from './explain-tool.ts';
import { explainUrl, type ExplainUrlDeps } from './explain-url.ts';
import { shellRemedy } from './remedies.ts';

export interface ExplainDeps extends ExplainToolDeps, ExplainUrlDeps {
  /** As it is where commands run; without it, the answer does not say what can be allowed permanently. */
  readonly resolveProgram?: ResolveProgram | undefined;
  readonly judgePath: JudgePath;
  /** The folder that the case names. Throws when it may not name one. */
  readonly workspaceOf: (input: {
    readonly workspace?: string | undefined;
    readonly agent?: string | undefined;
  }) => Promise<string>;
}

/** @throws Failure InvalidInput for a case that cannot be read, NotFound for an agent that does not exist */
export async function explainCase(
  deps: ExplainDeps,
  kind: ExplainKind,
  input: unknown,
): Promise<ExplainAnswer> {
  const id = typeof input === 'object' && input !== null && 'id' in input ? input.id : undefined;
  const answer = await answerCase(deps, kind, input);
  return typeof id === 'string' || typeof id === 'number' ? { id, ...answer } : answer;
}

async function answerCase(deps: ExplainDeps, kind: ExplainKind, input: unknown): Promise<ExplainAnswer> {
  switch (kind) {
    case 'tool':
      return explainTool(deps, read('tool', input));
    case 'shell':
      return explainShell(deps, read('shell', input));
    case 'path':
      return explainPath(deps, read('path', input));
    case 'url':
      return explainUrl(deps, read('url', input));
    default:
      return explainScrub(read('scrub', input));
  }
}

function read<Kind extends ExplainKind>(kind: Kind, input: unknown): z.output<(typeof EXPLAIN_INPUTS)[Kind]> {
  const parsed = EXPLAIN_INPUTS[kind].safeParse(input);
  if (parsed.success) return parsed.data as z.output<(typeof EXPLAIN_INPUTS)[Kind]>;
  throw new Failure('InvalidInput', schemaProblem(parsed.error, kind));
}

async function explainShell(
  source: ExplainDeps,
  input: z.infer<typeof explainShellSchema>,
): Promise<ExplainAnswer> {
  const scope = await scopeOf(source, input);
  const exec = effectiveExec([
    scope.settings.exec,
    scope.tenant_policy?.exec,
    scope.agent.exec,
    { categories: input.categories },
  ]);
  const stored = scope.allowlist.filter(({ tool }) => tool === 'exec').map(({ pattern }) => pattern);
  const resolve = source.resolveProgram ?? (() => null);
  // The place without a sandbox depends on the worker's machine.
  const sandbox = sandboxOf(scope.settings.sandbox ?? {}, scope.agent.sandbox);
  const place = sandbox?.mode === 'required' ? 'image' : 'host';
  const verdict = judgeCommand(input.command, {
    ...exec,
    stored,
    resolve: resolverAt(place, resolve),
    deniedPaths: input.denied_paths ?? scope.settings.deniedPaths ?? DEFAULT_PATH_RULES.deniedPrefixes,
  });
  const { decision, category, rule, reason, command_words } = verdict;
  return {
    decision,
    category,
    rule,
    reason,
    remedy: shellRemedy(verdict),
    always:
      decision === 'ask' && source.resolveProgram
        ? alwaysWords(proposeAllowlistEntry(input.command, resolve, place))
        : undefined,
    command_words: command_words.map((words) => [...words]),
  };
}

async function explainPath(
  deps: ExplainDeps,
  input: z.infer<typeof explainPathSchema>,
): Promise<ExplainAnswer> {
  const workspace = await deps.workspaceOf(input);
  const isFolder = await stat(workspace).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new Failure('NotFound', 'there is no such workspace folder here');
  const op = PATH_OPS.find((known) => known === (OP_ALIASES[input.op] ?? input.op));
  if (op === undefined)
    return {
      decision: 'deny',
      code: 'NotFound',
      reason: `no tool does ${input.op}; there are ${PATH_OPS.join(', ')}`,
    };
  const rules = {
    ...DEFAULT_PATH_RULES,
    deniedPrefixes: input.denied_prefixes ?? deps.settings.deniedPaths ?? DEFAULT_PATH_RULES.deniedPrefixes,
    restrict: input.restrict ?? DEFAULT_PATH_RULES.restrict,
  };
  const verdict = await deps.judgePath(rules, workspace, input.path, op);
  const remedy = verdict.decision === 'deny' ? PATH_REMEDIES[verdict.code ?? ''] : undefined;
  return { ...verdict, remedy };
}

const OP_ALIASES: Readonly<Record<string, PathOp | undefined>> = {
  exec: 'cwd',
  working_dir: 'cwd',
  attach: 'read',
  send: 'read',
  append: 'write',
};

const PATH_REMEDIES: Readonly<Record<string, string | undefined>> = {
  InvalidPath: 'use a path inside the workspace that names the right kind of thing',
  FileNotFound: 'look at what is there with list_files',
};

function explainScrub({ text, registered = [] }: z.infer<typeof explainScrubSchema>): ExplainAnswer {
  const values = registered.map((value) =>
    typeof value === 'string' ? { value, kind: kindOf(value) } : value,
  );
  const { text: scrubbed, found } = scrubText(text, registerValues(values));
  return { text: scrubbed, found: [...found] };
}

/** An address is not a credential: a server's address is hidden as such. */
function kindOf(value: string): 'credential' | 'server_ip' {
  return /^(?:\d{1,3}\.){3}\d{1,3}$/.test(value) ? 'server_ip' : 'credential';
}
