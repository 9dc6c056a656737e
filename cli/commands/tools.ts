/** Implements `tempoclaw tools`: what tools agents can have, and calling one by hand with its ledger and approvals. */
import type { Command } from 'commander';
import { toolSwitches } from '#domain/resource/tool-switches.ts';
import { tools as resource } from '#domain/resource/tools.ts';
import { decideCommands } from '#cli/approvals/approval-words.ts';
import { CliError } from '#cli/cli-error.ts';
import { addCommand, addCommands } from '#cli/api-commands.ts';
import { type ApiOptions, createContext, pathOf, readJsonObject } from '#cli/command-context.ts';
import { printFields, printJson, printText } from '#cli/output.ts';
import type { Page, Tool, ToolInvocation, ToolSwitch } from '#cli/wire.ts';

export function register(tools: Command): void {
  addCommands(tools, resource);
  tools
    .command('show <name>')
    .description('one tool and its arguments')
    .option('--agent <key>', 'also among those of its own')
    .action(show);
  tools
    .command('invoke <name>')
    .description('call a tool by hand; policy, approval and record as for an agent')
    .option('--args <json>', 'its arguments, such as {"path":"README.md"}', '{}')
    .option('--session <key>', 'the session it belongs to (default: its own)')
    .option('--agent <key>', 'whose policy and workspace apply (default: main)')
    .action(invoke);
  addCommands(tools, toolSwitches);
  addCommand(
    tools,
    toolSwitches,
    'setToolSwitch',
    {},
    {
      word: 'enable',
      help: 'switch it on again',
      sends: () => ({ enabled: true }),
      says: ({ name }: ToolSwitch) => `The tenant has ${name} again.`,
    },
  );
}

async function show(name: string, options: ApiOptions & { readonly agent?: string }): Promise<void> {
  const { client, out, json } = createContext(options);
  const { data } = await client.get<Page<Tool>>(pathOf('tools'), { agent: options.agent });
  const tool = data.find((one) => one.name === name || one.aliases.includes(name));
  if (!tool)
    throw new CliError(`There is no tool ${name}.`, {
      code: 'NotFound',
      remedy: 'See: npx tempoclaw tools list',
    });
  if (json) return printJson(out, tool);
  printFields(out, { ...tool, aliases: tool.aliases.join(', ') || undefined });
}

async function invoke(
  name: string,
  options: ApiOptions & { readonly args: string; readonly session?: string; readonly agent?: string },
): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const result = await client.post<ToolInvocation>(pathOf('tools', name, 'invoke'), {
    args: readJsonObject(options.args, '--args'),
    session_key: options.session,
    agent: options.agent,
  });
  if (json) printJson(out, result);
  else if (result.text) printText(out, result.text);
  if (result.ok === null) {
    const waits = result.approval_id
      ? `it waits for an approval: ${decideCommands(result.approval_id)}`
      : 'it still runs';
    err.line(`${err.paint('yellow', '…')} ${waits}\n  its end: npx tempoclaw turns show ${result.turn_id}`);
  } else if (!result.ok) {
    process.exitCode = 1;
    if (!json) err.line(err.paint('red', `✘ ${result.code ?? 'failed'}`));
  }
}
