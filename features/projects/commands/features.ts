/** Implements `tempoclaw features list`: the features of this build, and the installation's own, which it checks. */
import type { Command } from 'commander';
import { CliError } from '#cli/cli-error.ts';
import type { CommandModule } from '#cli/commands.ts';
import { createOutput, printJson, printTable } from '#cli/output.ts';
import { FEATURE_PROBLEMS } from '#config/sections.ts';
import type { Feature } from '#domain/feature.ts';
import { checkFeatures } from '../check-features.ts';

export function commandsFor(features: readonly Feature[]): CommandModule {
  return {
    register(command: Command) {
      command
        .command('list', { isDefault: true })
        .description('features of this build and your own, which it checks')
        .action(({ json = false }: { json?: boolean }) => list(features, json));
    },
  };
}

async function list(features: readonly Feature[], isJson: boolean): Promise<void> {
  const out = createOutput(process.stdout);
  const problems = [...FEATURE_PROBLEMS, ...(await checkFeatures(features))];
  const rows = features.map(({ name, summary, own }) => ({
    name,
    summary,
    folder: own?.folder ?? null,
    digest: own?.digest ?? null,
  }));
  if (isJson) printJson(out, { features: rows, problems });
  else
    printTable(
      out,
      { feature: 'name', from: ({ folder }) => folder ?? 'TempoClaw', summary: { flexible: 'summary' } },
      rows,
    );
  if (problems.length > 0)
    throw new CliError(problems.join('\n'), {
      code: 'InvalidFeature',
      remedy: 'See docs/features.md for what a feature consists of.',
    });
}
