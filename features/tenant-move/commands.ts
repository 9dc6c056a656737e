/** Implements `tempoclaw tenants freeze, unfreeze, export, import`, on the operator's machine and not over HTTP. */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { loadConfig } from '#config';
import { clientEnvironment, passphraseVariable } from '#config/client-environment.ts';
import { CliError, usageError } from '#cli/cli-error.ts';
import type { CommandModule } from '#cli/commands.ts';
import { type ApiOptions, wholeNumber } from '#cli/command-context.ts';
import { createOutput, printJson } from '#cli/output.ts';
import { findRunFile } from '#cli/target.ts';
import type { Feature } from '#domain/feature.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { readFreeze } from '#store/tenant-freeze.ts';
import { exportTenant } from './export-tenant.ts';
import { goOn } from './go-on.ts';
import { holdStill, noTenant } from './hold-still.ts';
import { countOf, importTenant } from './import-tenant.ts';
import { type Installation, withInstallation } from './installation.ts';
import { passphraseProblem } from './sealed-file.ts';

interface MoveOptions extends ApiOptions {
  readonly config?: string;
  readonly passphraseFile?: string;
  readonly wait: number;
}

const WAIT_SECONDS = 600;
const MAX_WAIT_SECONDS = 86_400;

/** `features` are those of the build. */
export function tenantCommands(features: readonly Feature[]): CommandModule {
  return { register: (command) => register(command, features) };
}

function register(command: Command, features: readonly Feature[]): void {
  const add = (name: string, help: string): Command =>
    command
      .command(name)
      .description(help)
      .option('--config <file>', 'settings file (default: tempoclaw.yaml)');
  const waits = (one: Command): Command =>
    one.option(
      '--wait <seconds>',
      'how long running turns may take to end',
      wholeNumber(0, MAX_WAIT_SECONDS),
      WAIT_SECONDS,
    );
  const reads = (one: Command): Command =>
    one.option('--passphrase-file <file>', 'the first line is the passphrase (or TEMPOCLAW_PASSPHRASE)');

  waits(add('freeze <tenant>', 'stop a tenant: it can be read, and takes nothing new (operator)')).action(
    (tenant: string, options: MoveOptions) =>
      act(features, options, async (at) => {
        await holdStill(at, tenant, { why: 'its operator has stopped it', waitSeconds: options.wait });
        return { tenant, frozen: true };
      }),
  );
  add('unfreeze <tenant>', 'let a frozen tenant go on here (operator)').action(
    (tenant: string, options: MoveOptions) =>
      act(features, options, async (at) => {
        if (!(await readFreeze(forTenant(at.pool, tenant)))) throw noTenant(tenant);
        const started = await goOn(at, tenant);
        at.report(`${tenant} goes on here, with ${started} sessions and tasks that had waited.`);
        return { tenant, frozen: false, started };
      }),
  );
  reads(
    waits(
      add(
        'export <tenant> <file>',
        'freeze a tenant, and write all that it has into a sealed file (operator)',
      ),
    ),
  ).action(async (tenant: string, file: string, options: MoveOptions) => {
    const passphrase = await readPassphrase(options);
    await act(features, options, async (at) => {
      const still = { why: 'it is being moved to another installation', waitSeconds: options.wait };
      const { tables, objects } = await exportTenant(at, tenant, file, passphrase, still);
      at.report(
        `${file} has ${tenant}: ${countOf(tables)} rows and ${countOf(objects)} objects. It stays frozen here; if it is not moved: tempoclaw tenants unfreeze ${tenant}`,
      );
      return { tenant, file, tables, objects };
    });
  });
  reads(add('import <file>', 'bring a tenant from such a file, and let it go on here (operator)')).action(
    async (file: string, options: MoveOptions) => {
      const passphrase = await readPassphrase(options);
      await act(features, options, async (at) => {
        const { tenant, contents, started } = await importTenant(at, file, passphrase);
        at.report(`${tenant} goes on here, with ${started} sessions and tasks that had waited.`);
        return { tenant, started, tables: contents.tables, objects: contents.objects };
      });
    },
  );
}

/** Prints what happens on standard error, and with --json the result on standard output. */
async function act(
  features: readonly Feature[],
  options: MoveOptions,
  work: (at: Installation) => Promise<unknown>,
): Promise<void> {
  const { config, running } = findInstallation(options);
  const err = createOutput(process.stderr);
  const result = await withInstallation(config, running, features, (line) => err.line(line), work);
  if (options.json) printJson(createOutput(process.stdout), result);
}

/** The installation of the settings, or else the one that `up` runs here, with its state folder. */
function findInstallation({ config: file, stateDir = clientEnvironment().stateDir }: MoveOptions) {
  const config = loadConfig({ flags: { config: file, stateDir } });
  if (config.database.url !== undefined) return { config, running: undefined };
  const running = findRunFile(stateDir, process.cwd());
  if (!running) return { config, running };
  return { config: loadConfig({ flags: { config: file, stateDir: dirname(running.path) } }), running };
}

/** It is never an argument, which other users of the machine can see. @throws CliError */
async function readPassphrase({ passphraseFile }: MoveOptions): Promise<string> {
  const passphrase =
    passphraseFile === undefined ? passphraseVariable() : await readFirstLine(passphraseFile);
  if (passphrase === undefined)
    throw usageError('No passphrase.', 'Set TEMPOCLAW_PASSPHRASE, or name a file with --passphrase-file.');
  const problem = passphraseProblem(passphrase);
  if (problem !== undefined) throw usageError(problem);
  return passphrase;
}

async function readFirstLine(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).split(/\r?\n/, 1)[0] ?? '';
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
