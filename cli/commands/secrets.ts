/**
 * Implements `tempoclaw secrets`: values that only activities see. A value is read from a pipe or a prompt, never from
 * arguments.
 */
import { isCancel, password } from '@clack/prompts';
import type { Command } from 'commander';
import { secrets as resource } from '#domain/resource/secrets.ts';
import { addCommands } from '#cli/api-commands.ts';
import { CliError, EXIT, usageError } from '#cli/cli-error.ts';
import { readPipe } from '#cli/object-file.ts';

/** More than the API accepts; longer input is no secret. */
const MAX_INPUT = 1_000_000;

export function register(secrets: Command): void {
  addCommands(secrets, resource, {
    setSecret: {
      sends: async ({ name }: { readonly name: string }, { canAsk }) => ({
        value: await readValue(canAsk, name),
      }),
    },
  });
}

async function readValue(canAsk: boolean, name: string): Promise<string> {
  const value = process.stdin.isTTY
    ? await askValue(canAsk, name)
    : await readPipe(MAX_INPUT, 'The value is too long to be a secret.');
  // Removes the one line end that `echo` adds.
  const whole = value.replace(/\r?\n$/, '');
  if (whole === '')
    throw usageError('The value is empty.', `Write: npx tempoclaw secrets set ${name} < FILE`);
  return whole;
}

async function askValue(canAsk: boolean, name: string): Promise<string> {
  if (!canAsk) throw usageError('The value is read from a pipe here.', `Write: … secrets set ${name} < FILE`);
  const answer = await password({ message: `Value of ${name}`, output: process.stderr });
  if (isCancel(answer)) throw new CliError('Nothing was set.', { exitCode: EXIT.interrupted });
  return answer ?? '';
}
