/**
 * Implements `tempoclaw status`: what runs here, where, since when and in which version; exit 1 when it cannot do its
 * work.
 */
import type { Command } from 'commander';
import { dirname } from 'node:path';
import { loadConfig } from '#config';
import { clientEnvironment } from '#config/client-environment.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { EXIT, type ExitCode } from '#cli/cli-error.ts';
import { createOutput, printJson, printTable, type Style } from '#cli/output.ts';
import { inspectRun, type PartStatus } from '../inspect-run.ts';
import { readRunInfo, type RunInfo, runningUp } from '#cli/run-state.ts';
import { findRunFile } from '#cli/target.ts';
import { agoWords } from '#cli/text.ts';

interface StatusOptions {
  readonly stateDir?: string;
  readonly config?: string;
  readonly json?: boolean;
}

export function register(command: Command): void {
  command.action(async (options: StatusOptions) => {
    process.exitCode = await status(options);
  });
}

const STYLES: Readonly<Record<string, Style>> = {
  ready: 'green',
  running: 'green',
  away: 'red',
  ended: 'red',
};

async function status({ json, ...flags }: StatusOptions): Promise<ExitCode> {
  const config = loadConfig({ flags });
  const found = findRunFile(flags.stateDir ?? clientEnvironment().stateDir, process.cwd());
  const stateDir = found === undefined ? config.stateDir : dirname(found.path);
  const info = readRunInfo(stateDir) as RunInfo | undefined;
  const parts = info === undefined ? [] : await inspectRun(config, info);
  const ready = parts.length > 0 && parts.every((part) => part.ready);
  const out = createOutput(process.stdout);
  if (json) {
    printJson(out, { ready, version: manifest.version, state_dir: stateDir, parts });
    return ready ? EXIT.ok : EXIT.failed;
  }
  if (info === undefined) {
    const starting = runningUp(stateDir);
    const err = createOutput(process.stderr);
    err.line(
      starting === undefined
        ? `Nothing runs here (${stateDir}). Start it with: npm start`
        : `It is starting (pid ${starting}), or ending.`,
    );
    return EXIT.failed;
  }
  const now = Date.now();
  const words = ready ? out.paint('green', '✔ ready') : out.paint('red', '✘ not ready');
  out.line(`${words} · TempoClaw ${manifest.version} · ${stateDir}`);
  printTable<PartStatus>(
    out,
    {
      part: 'part',
      state: { cell: 'state', style: ({ state }) => STYLES[state] },
      where: { flexible: 'where' },
      version: 'version',
      pid: 'pid',
      since: ({ since }) => agoWords(since, now),
    },
    parts,
  );
  if (info.temporal_ui) out.line(`\nTemporal UI  ${info.temporal_ui}`);
  if (!ready) createOutput(process.stderr).line('See: npx tempoclaw logs, npx tempoclaw doctor');
  return ready ? EXIT.ok : EXIT.failed;
}
