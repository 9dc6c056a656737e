/** `tempoclaw secrets`: values that only activities see. A value is read from a pipe or a prompt, never from arguments. */
import { isCancel, password } from '@clack/prompts';
import type { Command } from 'commander';
import { secrets as resource } from '#domain/resource/secrets.ts';
import { call } from '#cli/call.ts';
import { CliError, EXIT, usageError } from '#cli/cli-error.ts';
import { type ApiOptions, type CommandContext, createContext, withApiOptions } from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';

/** More than the API takes; what is longer is no secret. */
const MAX_INPUT = 1_000_000;

export function register(secrets: Command): void {
  addCommands(secrets, resource, { setSecret: addSet });
}

function addSet(secrets: Command): void {
  withApiOptions(
    secrets
      .command('set')
      .description('set one; its value is read from a pipe or asked for, and never taken from arguments')
      .argument('<name>'),
  ).action(set);
}

async function set(name: string, options: ApiOptions): Promise<void> {
  const context = createContext(options);
  const value = await readValue(context, name);
  const secret = await call(context.client, resource.operations.setSecret, {
    params: { name },
    body: { value },
  });
  if (context.json) printJson(context.out, secret);
  else context.out.line(`secret ${name} is set; refer to it as secret://${name}`);
}

async function readValue({ canAsk }: CommandContext, name: string): Promise<string> {
  const value = process.stdin.isTTY ? await askValue(canAsk, name) : await readPipe();
  if (value === '')
    throw usageError('The value is empty.', `Write: npx tempoclaw secrets set ${name} < FILE`);
  return value;
}

async function askValue(canAsk: boolean, name: string): Promise<string> {
  if (!canAsk) throw usageError('The value is read from a pipe here.', `Write: … secrets set ${name} < FILE`);
  const answer = await password({ message: `Value of ${name}`, output: process.stderr });
  if (isCancel(answer)) throw new CliError('Nothing was set.', { exitCode: EXIT.interrupted });
  return answer ?? '';
}

/** Without the one line end that `echo` adds. */
async function readPipe(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk as string;
    if (text.length > MAX_INPUT) throw usageError('The value is too long to be a secret.');
  }
  return text.replace(/\r?\n$/, '');
}
