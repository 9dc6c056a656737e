/** Implements `tempoclaw sandbox test`: it makes a box on this machine and tries it from inside. */
import type { Command } from 'commander';
import { loadConfig } from '#config';
import { EXIT, type ExitCode } from '#cli/cli-error.ts';
import { createOutput, printJson, printTable } from '#cli/output.ts';
import { probeBubblewrap, probeSandbox } from '../probe-sandbox.ts';

interface TestOptions {
  readonly config?: string;
  readonly image?: string;
  readonly bubblewrap?: boolean;
  readonly json?: boolean;
}

export function register(sandbox: Command): void {
  sandbox
    .command('test')
    .description('make a box here and try it from inside; exit 1 when something does not hold')
    .option('--image <name>', 'another image than the settings’')
    .option('--bubblewrap', 'try bubblewrap, which is used where there is no container')
    .action(async (options: TestOptions) => {
      process.exitCode = await test(options);
    });
}

async function test({ config: file, image, bubblewrap, json = false }: TestOptions): Promise<ExitCode> {
  const out = createOutput(process.stdout);
  const { sandbox } = loadConfig({ flags: { config: file } });
  const settings = { sandbox: image === undefined ? sandbox : { ...sandbox, image } };
  const checks = await (bubblewrap ? probeBubblewrap(settings) : probeSandbox(settings));
  const holds = checks.every(({ ok }) => ok);
  if (json) printJson(out, { holds, checks });
  else {
    printTable(
      out,
      {
        '': { cell: ({ ok }) => (ok ? '✔' : '✘'), style: ({ ok }) => (ok ? 'green' : 'red') },
        check: 'check',
        'must be': ({ expected }) => expected,
        seen: { flexible: 'seen' },
      },
      checks,
    );
    out.line(holds ? '\nThe box holds.' : '\nThe box does not hold (✘).');
  }
  return holds ? EXIT.ok : EXIT.failed;
}
