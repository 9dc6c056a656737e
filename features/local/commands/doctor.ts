/** Implements `tempoclaw doctor`: it says what is there, what is missing, and what to do about it. */
import { dirname } from 'node:path';
import { ConfigError, describe, loadConfig } from '#config';
import { clientEnvironment } from '#config/client-environment.ts';
import { EXIT, type ExitCode } from '#cli/cli-error.ts';
import type { CommandModule } from '#cli/commands.ts';
import { createOutput, printJson, type Style } from '#cli/output.ts';
import type { SchemaPart } from '#store/postgres/migrate.ts';
import { diagnose } from '../diagnose.ts';
import { type Finding, finding } from '../finding.ts';
import { findRunFile } from '#cli/target.ts';

interface DoctorOptions {
  readonly config?: string;
  readonly stateDir?: string;
  readonly json?: boolean;
}

export function commandsFor(features: readonly SchemaPart[]): CommandModule {
  return {
    register: (command) =>
      command.action(async (options: DoctorOptions) => {
        process.exitCode = await doctor(options, features);
      }),
  };
}

const MARKS: Readonly<Record<Finding['status'], readonly [string, Style]>> = {
  ok: ['✔', 'green'],
  info: ['•', 'dim'],
  warn: ['!', 'yellow'],
  missing: ['✘', 'red'],
};

async function doctor(
  { json = false, ...flags }: DoctorOptions,
  features: readonly SchemaPart[],
): Promise<ExitCode> {
  const out = createOutput(process.stdout);
  const { findings, settings } = await examine(flags, features);
  const healthy = findings.every((one) => one.status !== 'missing');
  if (json) {
    printJson(out, { healthy, findings, settings });
  } else {
    const width = Math.max(...findings.map((one) => one.check.length));
    for (const { check, status, detail, remedy } of findings) {
      const [mark, style] = MARKS[status];
      out.line(`${out.paint(style, mark)} ${check.padEnd(width)}  ${detail}`);
      if (remedy !== undefined) out.line(`  ${' '.repeat(width)}  ${out.paint('dim', '→')} ${remedy}`);
    }
    out.line(healthy ? '\nNothing that is needed is missing.' : '\nSomething that is needed is missing (✘).');
  }
  return healthy ? EXIT.ok : EXIT.failed;
}

async function examine(
  flags: { config?: string; stateDir?: string },
  features: readonly SchemaPart[],
): Promise<{ findings: Finding[]; settings: string[] }> {
  try {
    const config = loadConfig({ flags });
    const run = findRunFile(flags.stateDir ?? clientEnvironment().stateDir, process.cwd());
    const { findings, config: seen } = await diagnose(
      {
        ...config,
        stateDir: run === undefined ? config.stateDir : dirname(run.path),
      },
      features,
    );
    return { findings, settings: describe(seen) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const remedy = 'Correct it in the place named; tempoclaw.example.yaml shows every setting.';
    const findings = error.problems.map((problem) => finding('Settings', 'missing', problem, remedy));
    return { findings, settings: [] };
  }
}
