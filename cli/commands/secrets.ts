/** `tempoclaw secrets`: values that only activities see. A value is read from a pipe or a prompt, never from arguments. */
import { isCancel, password } from '@clack/prompts';
import type { Command } from 'commander';
import { CliError, EXIT, usageError } from '#cli/cli-error.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  pageQuery,
  type PageOptions,
  pathOf,
  printPage,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import { agoWords } from '#cli/text.ts';
import type { Rotation, Secret } from '#cli/wire.ts';

/** More than the API takes; what is longer is no secret. */
const MAX_INPUT = 1_000_000;

export function register(secrets: Command): void {
  withPageOptions(
    secrets.command('list', { isDefault: true }).description('their names; values are never shown'),
  ).action(list);
  withApiOptions(
    secrets
      .command('set')
      .description('set one; its value is read from a pipe or asked for, and never taken from arguments')
      .argument('<name>'),
  ).action(set);
  withApiOptions(secrets.command('delete').description('delete one').argument('<name>')).action(remove);
  withApiOptions(
    secrets.command('rotate').description('seal all of them with the newest master key (operator)'),
  ).action(rotate);
}

async function list(options: PageOptions): Promise<void> {
  const now = Date.now();
  await printPage<Secret>(
    createContext(options),
    pathOf('secrets'),
    pageQuery(options),
    [
      { title: 'secret', cell: (secret) => secret.name },
      { title: 'set by', cell: (secret) => secret.updated_by, flexible: true },
      { title: 'set', cell: (secret) => agoWords(secret.updated_at, now) },
    ],
    'No secrets.',
  );
}

async function set(name: string, options: ApiOptions): Promise<void> {
  const context = createContext(options);
  const value = await readValue(context, name);
  const secret = await context.client.put<Secret>(pathOf('secrets', name), { value });
  if (context.json) printJson(context.out, secret);
  else context.out.line(`secret ${name} is set; refer to it as secret://${name}`);
}

async function remove(name: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  await client.delete(pathOf('secrets', name));
  if (json) printJson(out, { name, deleted: true });
  else out.line(`secret ${name} is deleted`);
}

async function rotate(options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const rotation = await client.post<Rotation>(pathOf('secrets', 'rotate'), {});
  if (json) printJson(out, rotation);
  else
    out.line(`all secrets are sealed with the key ${rotation.key_id}; ${rotation.resealed} were not before`);
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
