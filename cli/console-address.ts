/** The address of the console: a link that logs a browser in, once. */
import { CliError } from '#cli/cli-error.ts';
import type { Client } from '#cli/client.ts';
import { orMissing } from '#cli/command-context.ts';

/** Throws a CliError when this TempoClaw has no console. */
export async function consoleAddress(client: Client): Promise<string> {
  const link = await orMissing(client.post<{ readonly url: string | null }>('/v1/console/links', undefined));
  if (link?.url) return link.url;
  throw new CliError('This TempoClaw has no web console.', {
    remedy: 'Its feature `console` is missing. `npx tempoclaw open ui` opens the Temporal web UI.',
  });
}
