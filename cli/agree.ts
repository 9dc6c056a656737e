/** Asks the person at the terminal before something is changed. */
import { confirm, isCancel } from '@clack/prompts';
import { CliError } from './cli-error.ts';
import type { CommandContext } from './command-context.ts';

/** `yes`: the option of that name. @throws CliError when nobody can be asked and the option is not there */
export async function isAgreed(
  { canAsk }: Pick<CommandContext, 'canAsk'>,
  { yes, message }: { readonly yes: boolean | undefined; readonly message: string },
): Promise<boolean> {
  if (yes) return true;
  if (!canAsk)
    throw new CliError('Nobody can be asked here; nothing was changed.', {
      code: 'NotAgreed',
      remedy: 'Give --yes, or --plan to see only what would change.',
    });
  const answer = await confirm({ message, output: process.stderr });
  return answer === true && !isCancel(answer);
}
