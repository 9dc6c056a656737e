/**
 * Implements `tempoclaw env`: it prints where the TempoClaw of this state folder is, as variables for a shell or for a
 * program.
 */
import type { Command } from 'commander';
import { dirname } from 'node:path';
import { clientEnvironment } from '#config/client-environment.ts';
import { type ApiOptions } from '#cli/command-context.ts';
import { createOutput, printJson } from '#cli/output.ts';
import { runningUp } from '#cli/run-state.ts';
import { sendTo } from '#cli/send-to.ts';
import { findTarget, type Target } from '#cli/target.ts';

export function register(command: Command): void {
  command
    .addHelpText('after', '\nIn bash, zsh and other POSIX shells: eval "$(npx tempoclaw env)"')
    .action(env);
}

/**
 * The key goes to whatever the shell calls next. It is printed only if the API proves to be there, because then the
 * port is its own.
 */
async function isThere({ socket, url }: Target): Promise<boolean> {
  if (socket === undefined) return false;
  const signal = AbortSignal.timeout(ANSWER_MS);
  return sendTo({ socket }, new URL(url), { headers: new Headers(), signal }).then(
    async (response) => {
      await response.body?.cancel();
      return true;
    },
    () => false,
  );
}

const ANSWER_MS = 5_000;

/** Variables that an earlier `env` set do not count: they may be of another folder, or of a start that ended. */
async function env({ stateDir, json }: Pick<ApiOptions, 'stateDir' | 'json'>): Promise<void> {
  const { stateDir: known } = clientEnvironment();
  const place = { url: undefined, apiKey: undefined, stateDir: stateDir ?? known };
  const target = findTarget({}, place, process.cwd());
  const { url, key, run } = target;
  const answers = await isThere(target);
  const variables = {
    TEMPOCLAW_URL: url,
    TEMPOCLAW_API_KEY: answers ? key : undefined,
    TEMPORAL_ADDRESS: run?.temporal,
    TEMPORAL_NAMESPACE: run?.namespace,
  };
  if (run && !answers) {
    const err = createOutput(process.stderr);
    const why =
      runningUp(dirname(run.path)) === undefined
        ? 'is of a start that has ended'
        : 'names an API that does not answer';
    err.line(err.paint('yellow', `${run.path} ${why}: its key is not given out.`));
  }
  const out = createOutput(process.stdout);
  if (json) return printJson(out, variables);
  for (const [name, value] of Object.entries(variables))
    if (value !== undefined) out.line(`export ${name}=${quoted(value)}`);
}

/** Quotes any text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
