/**
 * Implements `tempoclaw temporal …`: Temporal's own command line, connected to the server of the TempoClaw that runs
 * here, or else to the one that the settings of a deployment name.
 */
import type { Command } from 'commander';
import { type Config, loadConfig } from '#config';
import { clientEnvironment } from '#config/client-environment.ts';
import { CliError, type ExitCode } from '#cli/cli-error.ts';
import type { ApiOptions } from '#cli/command-context.ts';
import { runTemporal, type TemporalPlace } from '../temporal/run-temporal.ts';
import { sendTo } from '#cli/send-to.ts';
import { findRunFile, findTarget } from '#cli/target.ts';

/** Words that need no server. */
const WORDS_ALONE = new Set(['--help', '-h', '--version', '-v', 'help', 'completion']);
const CODEC_MS = 3_000;

export function register(command: Command): void {
  command
    .argument('[args...]', 'passed on as they are: npx tempoclaw temporal workflow list')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (args: string[], options: ApiOptions & { config?: string }) => {
      const flags = { config: options.config, stateDir: options.stateDir };
      const isAlone = args.length === 0 || args.some((arg) => WORDS_ALONE.has(arg));
      const config = loadConfig({ flags });
      const place = await findPlace(options, config.temporal).catch((error: unknown) => {
        if (isAlone) return undefined;
        throw error;
      });
      process.exitCode = (await runTemporal(args, config, place)) as ExitCode;
    });
}

async function findPlace(options: ApiOptions, settings: Config['temporal']): Promise<TemporalPlace> {
  const env = clientEnvironment();
  const run = findRunFile(options.stateDir ?? env.stateDir, process.cwd());
  // A folder that a flag names is meant, and no other server.
  if (!run && settings.address !== undefined && options.stateDir === undefined) {
    const { address, namespace } = settings;
    const isKnown = (options.url ?? env.url) !== undefined;
    const codec = isKnown ? await codecEndpoint(findTarget(options, env, process.cwd())) : undefined;
    return { address, namespace, codecEndpoint: codec };
  }
  // The state folder says which server it is; an address of another API in the environment does not.
  const target = findTarget(options, { ...env, url: undefined }, process.cwd());
  const { temporal: address, namespace } = target.run ?? {};
  if (address === undefined || namespace === undefined)
    throw new CliError(`${target.source} does not say where Temporal is.`, {
      code: 'NotRunning',
      remedy: 'Name its state folder before the command: npx tempoclaw --state-dir DIR temporal …',
    });
  return { address, namespace, codecEndpoint: await codecEndpoint(target) };
}

/** Returns undefined if payloads are plain, or if the caller may not read them. */
async function codecEndpoint(target: ReturnType<typeof findTarget>): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(CODEC_MS);
    const headers = new Headers({ authorization: `Bearer ${target.key ?? ''}` });
    const response = await sendTo(target, new URL(`${target.url}/v1/codec`), { headers, signal });
    return response.ok ? ((await response.json()) as { endpoint: string }).endpoint : undefined;
  } catch {
    // If the API is away, payloads stay hidden; everything else of Temporal works.
    return undefined;
  }
}
