/** Implements `tempoclaw open`: it shows a page of the running TempoClaw in the browser, and prints its address. */
import { type Command, Argument } from 'commander';
import { CliError } from '#cli/cli-error.ts';
import type { Client } from '#cli/client.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import { consoleAddress } from '#cli/console-address.ts';
import { openInBrowser } from '#cli/browser.ts';

const PAGES = ['console', 'ui', 'docs', 'approvals', 'start'] as const;

export function register(command: Command): void {
  const help =
    "console: the web console, logged in with the key, by a link that works once; ui: Temporal's web UI; approvals: in it, those that wait; docs: the API's reference; start: the API's first page";
  command.addArgument(new Argument('[page]', help).choices(PAGES).default('console')).action(open);
}

async function open(page: (typeof PAGES)[number], options: ApiOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const address = await addressOf(page, client);
  if (json) return printJson(out, { address });
  out.line(address);
  if (process.stdout.isTTY && !openInBrowser(address))
    err.line(err.paint('dim', 'No browser is known here: open the address in one.'));
}

/** The API reports the addresses, so that this also works for one that runs elsewhere. */
async function addressOf(page: (typeof PAGES)[number], client: Client): Promise<string> {
  const { url } = client.target();
  if (page === 'console') return consoleAddress(client);
  if (page === 'start') return `${url}/`;
  if (page === 'docs') return `${url}/docs`;
  const places = await client.get<{ temporal_ui?: string | null; approvals?: string | null }>('/');
  const address = page === 'ui' ? places.temporal_ui : places.approvals;
  if (!address)
    throw new CliError('No Temporal web UI is configured.', {
      remedy: 'Set TEMPOCLAW_TEMPORAL_UI_URL (temporal.uiUrl) for the API.',
    });
  return address;
}
