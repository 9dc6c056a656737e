/** `tempoclaw env`: where the TempoClaw of this state folder is, as variables for a shell or for a program. */
import type { Command } from 'commander';
import { dirname } from 'node:path';
import { clientEnvironment } from '#config/client-environment.ts';
import { type ApiOptions } from '#cli/command-context.ts';
import { createOutput, printJson } from '#cli/output.ts';
import { runningUp } from '#cli/services/run-state.ts';
import { findTarget } from '#cli/target.ts';

export function register(command: Command): void {
  command
    .addHelpText('after', '\nIn bash, zsh and other POSIX shells: eval "$(npx tempoclaw env)"')
    .action(env);
}

/** What an earlier `env` has set does not count: it may be of another folder, or of a start that ended. */
function env({ stateDir, json }: Pick<ApiOptions, 'stateDir' | 'json'>): void {
  const { stateDir: known } = clientEnvironment();
  const place = { url: undefined, apiKey: undefined, stateDir: stateDir ?? known };
  const { url, key, run } = findTarget({}, place, process.cwd());
  const variables = {
    TEMPOCLAW_URL: url,
    TEMPOCLAW_API_KEY: key,
    TEMPORAL_ADDRESS: run?.temporal,
    TEMPORAL_NAMESPACE: run?.namespace,
  };
  if (run && runningUp(dirname(run.path)) === undefined) {
    const err = createOutput(process.stderr);
    err.line(err.paint('yellow', `${run.path} is of a start that has ended: nothing may be there.`));
  }
  const out = createOutput(process.stdout);
  if (json) return printJson(out, variables);
  for (const [name, value] of Object.entries(variables))
    if (value !== undefined) out.line(`export ${name}=${quoted(value)}`);
}

/** One word of a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
