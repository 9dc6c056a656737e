/**
 * `npx node bench/tau2/main.ts` runs the expected actions of all tasks of τ² (airline, retail, telecom) as turns of
 * TempoClaw, whose processes are killed with SIGKILL at random the whole time, and writes what became of them to
 * bench/tau2/results.json, docs/league.md and docs/images/tau2.svg. `--domains a,b`, `--modes a,b` and `--tasks 5` (those of
 * each domain with the most calls) select. `--seconds 10` is the longest time between a start and a kill, `--delay 400` the
 * longest time in ms that a write takes before its effect, and after it. `--json FILE` writes there instead.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { machine } from '../league/results.ts';
import { mergeResults, readResults, type TauResult, writeReport } from './report.ts';
import { runDomain } from './run.ts';
import { DOMAINS } from './service.ts';
import { MODES } from './tau-tool.ts';

/** Ends what runs now. */
let onSignal: (() => Promise<void>) | undefined;

async function main(): Promise<void> {
  const { values: flags } = parseArgs({
    options: {
      domains: { type: 'string', default: DOMAINS.join(',') },
      modes: { type: 'string', default: MODES.join(',') },
      tasks: { type: 'string' },
      seconds: { type: 'string', default: '10' },
      delay: { type: 'string', default: '400' },
      json: { type: 'string' },
    },
  });
  const domains = z.array(z.enum(DOMAINS)).parse(flags.domains.split(','));
  const modes = z.array(z.enum(MODES)).parse(flags.modes.split(','));
  const limit = flags.tasks === undefined ? undefined : z.coerce.number().int().min(1).parse(flags.tasks);
  const killMs = z.coerce.number().min(2).max(600).parse(flags.seconds) * 1_000;
  const delayMs = z.coerce.number().min(0).max(5_000).parse(flags.delay);
  const found: TauResult[] = [];
  for (const mode of modes)
    for (const domain of domains) {
      const log = (words: string): void => console.error(`tau2: ${words}`);
      const onStart = (stop: () => Promise<void>): void => void (onSignal = stop);
      const result = await runDomain({ domain, mode, limit, killMs, delayMs, log, onStart });
      onSignal = undefined;
      found.push(result);
      console.log(JSON.stringify(result));
      const results = { machine: machine(), runs: found };
      if (flags.json) await writeFile(flags.json, `${JSON.stringify(results, null, 2)}\n`);
      else await writeReport(mergeResults(await readResults(), results));
    }
}

if (import.meta.main) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void (onSignal?.() ?? Promise.resolve()).finally(() => process.exit(130)));
  await main();
}
