/**
 * credentialed_exec: runs a program that an admin has given credentials, without a shell (SH-4). It is `once`, because
 * its external effects cannot be undone.
 */
import { filesHandedTo } from '@tempoclaw/shell-judge';
import { z } from 'zod';
import { defineTool, type RunningCall, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { folderOf } from '#policy/exec-rules.ts';
import { commandResult } from '#activities/process/command-text.ts';
import { afterLogin, askForLogin } from '#activities/tool-call/missing-login.ts';
import { inFolder } from '#activities/process/in-folder.ts';
import { matchesPattern } from '#policy/deny-pattern.ts';
import { grantNeeded } from '../activities/refuse-secure-cli.ts';
import type { SecureClis, SecureOutcome } from '../activities/secure-clis.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';
import { checkArguments } from '../rules/check-arguments.ts';
import { readCommandLine } from '../rules/read-command-line.ts';
import { mayUse, type SecureCli } from '../rules/secure-cli.ts';
import { type ToolResult, toolError } from '#domain/tool.ts';

/** The maximum of a program's own `timeout_seconds`. */
const MAX_TIMEOUT_SECONDS = 600;
/** SIGTERM, 3 s, SIGKILL, and the end of the pipes. */
const KILL_SECONDS = 10;
/** Linux accepts 128 KiB in one argument; patterns are matched over all of them. */
const MAX_ARGUMENT_CHARS = 32_000;

const input = z.object({
  binary: z.string().min(1).max(4096).optional().describe('Name of the program, such as gh'),
  args: z
    .array(z.string().max(MAX_ARGUMENT_CHARS))
    .max(500)
    .optional()
    .describe('Its arguments, each as the program shall get it; no shell reads them'),
  command: textField(
    MAX_ARGUMENT_CHARS,
    'In place of binary and args: one line, with quotes where needed; no pipes, redirections, variables',
  ).optional(),
  working_dir: textField(4096, 'Folder to run in, relative to the workspace').optional(),
});

type Input = z.infer<typeof input>;
type Needs = Pick<ToolDeps, 'files'> & { readonly secureClis: SecureClis };

export const tool = defineTool<Input, Needs>({
  name: 'credentialed_exec',
  description:
    'Run a program that has been given credentials (such as gh, aws, kubectl) without a shell. Which programs there are for you is told when binary is left out. Its credentials are never shown.',
  keywords:
    'login logged account token secret authenticated cli deploy cloud saved gcloud docker terraform git keys s3 buckets bucket cluster pods pull request issue release github azure stored signed privileges repository',
  group: 'runtime',
  replay: 'once',
  mayNeedLogin: true,
  input,
  limits: { duration: 'long', costly: true, timeoutSeconds: MAX_TIMEOUT_SECONDS + KILL_SECONDS },
  summary: ({ binary = '', args = [], command }) => command ?? [binary, ...args].join(' '),
  runsFiles: (args) => {
    const words = readCommand(args as Input);
    return { ...filesHandedTo('ok' in words ? [] : words.args), folder: folderOf(args) };
  },
  run: (deps, args, call) =>
    withFileProblems(async () => {
      const clis = await deps.secureClis.list(call.tenant);
      const usable = clis.filter((cli) => mayUse(cli, call.agent));
      const words = readCommand(args);
      if ('ok' in words) return words;
      if (words.program === '') return listed(usable.filter((cli) => mayRunHere(cli, call)));
      const name = words.program.slice(words.program.lastIndexOf('/') + 1);
      const cli = usable.find((each) => each.name === name);
      if (!cli) return toolError('PermissionDenied', grantNeeded(name));
      if (!mayRunHere(cli, call)) return toolError('PermissionDenied', hostNeeded(name));
      return runChecked(deps, args, call, cli, words);
    }),
});

/**
 * It always runs on this machine, because credentials in a box would be accessible to everything else that runs there.
 * For an agent that must not run anything here, only the grant of the program can allow it.
 */
function mayRunHere({ host = false }: SecureCli, { sandbox }: RunningCall): boolean {
  return host || sandbox?.mode !== 'required';
}

function hostNeeded(name: string): string {
  return `${name} runs on the worker's machine, and this agent's commands must run in a sandbox; it has not run. Ask an admin to set host: true for ${name}, if that is meant.`;
}

interface Words {
  readonly program: string;
  readonly args: readonly string[];
}

/** What to start, or why the call is refused. */
function readCommand({ binary, args = [], command }: Input): Words | ToolResult {
  if ([binary, command, ...args].some((text) => text?.includes('\0')))
    return toolError('InvalidArgs', 'the arguments hold a NUL character, which no command line may');
  if (command === undefined) return { program: binary ?? '', args };
  if (binary !== undefined || args.length > 0)
    return toolError('InvalidArgs', 'give either binary and args, or command');
  const line = readCommandLine(command);
  if (line.operators.length > 0)
    return toolError(
      'PermissionDenied',
      `shell operators are not allowed here (${line.operators.join(' ').replaceAll('\n', '\\n')}): there is no shell. Quote what is meant as text, and do the rest in calls of its own.`,
    );
  if (line.isOpen) return toolError('InvalidArgs', 'command: a quote does not end');
  const [program = '', ...rest] = line.words;
  return { program, args: rest };
}

function listed(clis: readonly SecureCli[]): ToolResult {
  if (clis.length === 0) return toolError('NotFound', 'no program has been given credentials for this agent');
  const lines = clis.map(({ name, tips }) => (tips === '' ? name : `${name}: ${tips}`));
  return { ok: true, text: `Programs for this agent:\n${lines.join('\n')}` };
}

async function runChecked(
  { secureClis, files }: Needs,
  request: Input,
  call: RunningCall,
  cli: SecureCli,
  { program, args }: Words,
): Promise<ToolResult> {
  if (args.join(' ').length > MAX_ARGUMENT_CHARS)
    return toolError('InvalidArgs', `the arguments have more than ${MAX_ARGUMENT_CHARS} characters`);
  const check = checkArguments(cli, args, matchesPattern);
  if (!check.ok) return toolError('PermissionDenied', withTips(`${cli.name}: ${check.reason}`, cli));
  for (const { option, keyword } of check.excused)
    call.progress(`${cli.name}: the word "${keyword}" in ${option} is excused by keyword_allowlist\n`);
  const problem = await loginProblem(secureClis, call, cli);
  if (problem) return problem;
  const timeoutMs = Math.min(cli.timeout_seconds, MAX_TIMEOUT_SECONDS) * 1000;
  const { tenant, user } = call;
  const ran = await inFolder(files, call, request.working_dir, (place) =>
    secureClis.run({ ...place, tenant, user, cli, requested: program, args, timeoutMs }),
  );
  return resultOf(ran, timeoutMs, cli);
}

/** Undefined when the program may run: it has no credentials of users, or the turn's user has given them. */
async function loginProblem(
  secureClis: SecureClis,
  { tenant, user, outside: before }: RunningCall,
  { name, user_env = [] }: SecureCli,
): Promise<ToolResult | undefined> {
  const at = { login: 'program', server: name } as const;
  const outside = before && (await afterLogin(at, before));
  if (outside && 'ok' in outside) return outside;
  // Its claim does not find this out for a call that has waited for a login.
  if (outside?.left && outside.isAgain)
    return toolError(
      'OutcomeUnknown',
      `the worker that ran ${name} is gone; whether it did its work is not known`,
    );
  if (user_env.length === 0) return undefined;
  if (user === null)
    return toolError(
      'PermissionDenied',
      `${name} runs with a user's own credentials, and this turn is nobody's`,
    );
  if (await secureClis.hasLogin(tenant, { name, user_env }, user)) return undefined;
  if (!outside) throw new Error('a call that waits has a row');
  const why = `the user ${user} has not given ${user_env.join(', ')}`;
  const how = `npx tempoclaw secure-clis credentials ${name} FILE`;
  return askForLogin({ ...at, user, why, how }, outside);
}

function resultOf(ran: SecureOutcome, timeoutMs: number, cli: SecureCli): ToolResult {
  if (ran.kind === 'refused') return toolError(ran.code, ran.message);
  const result = commandResult(ran.outcome, timeoutMs);
  return result.ok ? result : { ...result, message: withTips(result.message, cli) };
}

function withTips(message: string, { tips }: SecureCli): string {
  return tips === '' ? message : `${message}\nTip: ${tips}`;
}
