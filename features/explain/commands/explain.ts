/**
 * Implements `tempoclaw explain`: what would be decided on a tool, a command, a path, an address or a text, by which
 * rule, and why.
 */
import { once } from 'node:events';
import type { Command } from 'commander';
import type { ExplainAnswer, ExplainKind } from '../schema/explain.ts';
import { CliError, usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext, pathOf, readJsonObject } from '#cli/command-context.ts';
import { readJsonLines } from './json-lines.ts';
import { createOutput, type Output, printFields, printJson, printText } from '#cli/output.ts';
import { createLocalExplain, type Explain } from './explain-locally.ts';

interface ExplainOptions extends ApiOptions {
  readonly jsonl?: boolean;
  readonly config?: string;
  readonly agent?: string;
  readonly args?: string;
  readonly channel?: string;
  readonly user?: string;
  readonly provider?: string;
  readonly used?: readonly string[];
  readonly session?: string;
  readonly subagent?: boolean;
  readonly leaf?: boolean;
  readonly op?: string;
  readonly workspace?: string;
}

type ToCase = (text: string, options: ExplainOptions) => Readonly<Record<string, unknown>>;

export function register(explain: Command): void {
  explain.addHelpText(
    'after',
    '\nWithout --agent no server is needed: the settings of this folder (tempoclaw.yaml) hold.\nWith --jsonl each line of standard input is a case and each line of output its answer, in order.',
  );
  const tool = add(
    explain,
    'tool',
    '[name]',
    'whether an agent has a tool; without a name, all it has',
    (name, options) => ({
      tool: name === '' ? undefined : name,
      args: options.args === undefined ? undefined : readJsonObject(options.args, '--args'),
      context: {
        channel: options.channel,
        user: options.user,
        provider: options.provider,
        used: options.used,
        session: options.session,
        subagent: options.subagent || options.leaf ? { depth: 1, leaf: options.leaf === true } : undefined,
      },
    }),
  );
  tool
    .option('--args <json>', 'arguments of a call: rules on calls and the judge of commands are asked, too')
    .option('--channel <name>', 'where the message comes from')
    .option('--user <id>', 'whose message it is')
    .option('--provider <name>', "the provider of the agent's model")
    .option('--used <tools...>', 'as if the session had read what these gave')
    .option('--session <key>', 'with what this session has read; with --agent')
    .option('--subagent', 'as a subagent')
    .option('--leaf', 'as a subagent at the greatest depth');
  add(explain, 'shell', '[command]', 'whether a command may run', (command) => ({ command }));
  add(explain, 'path', '[path]', 'whether a path may be used', (path, { op = 'read', workspace }) => ({
    path,
    op,
    workspace,
  }))
    .option('--op <op>', 'read, list, search, write, edit, delete or cwd (default: read)')
    .option('--workspace <folder>', 'the workspace (default: this folder)');
  add(explain, 'url', '[url]', 'whether an address may be asked', (url) => ({ url }));
  add(explain, 'scrub', '[text]', 'what of a text is hidden', (text) => ({ text }));
}

function add(parent: Command, kind: ExplainKind, argument: string, words: string, toCase: ToCase): Command {
  return parent
    .command(`${kind} ${argument}`)
    .description(words)
    .option('--jsonl', 'cases from standard input, one JSON object a line')
    .option('--agent <key>', 'under the rules of this agent, asked of the server')
    .action(async (text: string | undefined, options: ExplainOptions) => {
      const explain =
        options.agent !== undefined && !options.jsonl
          ? remoteExplain(options)
          : await createLocalExplain(options);
      if (options.jsonl) return explainLines(kind, explain);
      if (text === undefined && kind !== 'tool')
        throw usageError(`explain ${kind} needs a ${argument.slice(1, -1)}, or --jsonl`);
      const answer = await explain(kind, toCase(text ?? '', options));
      if ('error' in answer) throw new CliError(answer.error.message, { code: answer.error.code });
      const out = createOutput(process.stdout);
      if (options.json) printJson(out, answer);
      else show(out, kind, text ?? '', answer);
    });
}

/** The server applies rows too: the agent's own rules, its tenant's, and what people allowed always. */
function remoteExplain(options: ExplainOptions): Explain {
  const { client } = createContext(options);
  return async (kind, value) =>
    client.post<ExplainAnswer>(pathOf('explain', kind), {
      ...(value as object),
      agent: kind === 'scrub' ? undefined : options.agent,
    });
}

async function explainLines(kind: ExplainKind, explain: Explain): Promise<void> {
  for await (const read of readJsonLines(process.stdin)) {
    const answer =
      'problem' in read
        ? { error: { code: 'InvalidInput', message: `line ${read.line} is not JSON: ${read.problem}` } }
        : await explain(kind, read.value);
    if (!process.stdout.write(`${JSON.stringify(answer)}\n`)) await once(process.stdout, 'drain');
  }
}

const COLOURS = { allow: 'green', ask: 'yellow', deny: 'red' } as const;

function show(out: Output, kind: ExplainKind, text: string, answer: ExplainAnswer): void {
  if (kind === 'scrub') {
    printText(out, answer.text ?? '');
    return printFields(out, { hidden: foundWords(answer) });
  }
  const { decision } = answer;
  if (decision !== undefined) out.line(out.paint(COLOURS[decision], decision));
  else for (const one of answer.decisions ?? []) out.line(lineOf(out, one));
  printFields(out, {
    why: answer.reason,
    step: answer.step,
    rule: answer.rule,
    hooks: answer.hooks?.join('\n'),
    category: answer.category,
    code: answer.code,
    commands: answer.command_words?.map((words) => words.join(' ')).join('\n') || undefined,
    path: answer.resolved,
    address: answer.address,
    remedy: answer.remedy,
    always: answer.always,
    tools: kind === 'tool' && text === '' ? undefined : answer.tools && `${answer.tools.length} in all`,
  });
}

function lineOf(out: Output, one: NonNullable<ExplainAnswer['decisions']>[number]): string {
  const rule = one.rule === null ? '' : ` (${one.rule})`;
  return `${out.paint(COLOURS[one.decision], one.decision.padEnd(5))} ${one.tool.padEnd(24)} ${one.step}${rule}`;
}

function foundWords({ found = [] }: ExplainAnswer): string {
  return found.map(({ kind, count }) => (count === 1 ? kind : `${kind} (${count})`)).join(', ') || 'nothing';
}
