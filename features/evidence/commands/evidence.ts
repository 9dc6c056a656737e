/** Implements `tempoclaw evidence`: the state of the chain, its export, and its verification, which needs neither API nor key. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { addCommands } from '#cli/api-commands.ts';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { createOutput, type Output, printJson } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import { evidenceChain } from '../resource.ts';
import { readHeads, type Verdict, verifyEvidence } from '../verify.ts';

interface VerifyOptions {
  readonly json?: boolean;
  readonly anchor?: string;
  readonly key?: string;
}

export function register(evidence: Command): void {
  addCommands(evidence, evidenceChain);
  evidence
    .command('export')
    .description('the chain with what it covers, as lines of JSON on stdout')
    .action(writeExport);
  evidence
    .command('verify')
    .description('check such a file offline; exit code 1 names the first fault')
    .argument('<file>', '- is a pipe')
    .option('--anchor <file>', 'heads that were anchored elsewhere, as lines of JSON')
    .option('--key <key>', 'the public key that must have signed it, in base64')
    .action((file: string, _options: object, command: Command) =>
      verify(file, command.optsWithGlobals<VerifyOptions>()),
    );
}

async function writeExport(options: ApiOptions): Promise<void> {
  const { client } = createContext(options);
  const { body } = await client.raw('GET', '/v1/evidence/export', {});
  await pipeline(Readable.fromWeb((body ?? new Blob([]).stream()) as never), process.stdout, { end: false });
}

async function verify(file: string, { json = false, anchor, key }: VerifyOptions): Promise<void> {
  const out = createOutput(process.stdout);
  const anchors =
    anchor === undefined ? undefined : readHeads(await reading(anchor, readFile(anchor, 'utf8')));
  const input = file === '-' ? process.stdin : createReadStream(file);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const verdict = await reading(
    file,
    Promise.race([verifyEvidence(lines, { anchors, key }), failureOf(input)]),
  );
  // A file of others' heads, or an empty one, would look as if it had agreed.
  if (anchor !== undefined && verdict.ok && verdict.anchored === 0)
    throw new CliError(`${anchor} has no head of ${verdict.tenant}; nothing could be compared with it.`);
  if (json) printJson(out, verdict);
  else print(out, verdict);
  if (!verdict.ok) process.exitCode = 1;
}

/** A stream of lines does not report the errors of its input. */
function failureOf(input: NodeJS.ReadableStream): Promise<never> {
  return new Promise((_resolve, reject) => input.once('error', reject));
}

async function reading<Value>(file: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function print(out: Output, { fault, ...verdict }: Verdict): void {
  const { tenant, entries, head, public_key, anchored, forgotten } = verdict;
  if (fault) {
    const { seq, kind, subject, reason } = fault;
    const what = [seq === null ? '' : `entry ${seq}`, kind ?? '', subject ?? ''].filter(
      (word) => word !== '',
    );
    return out.line(printable(`${fault.fault}: ${[...what, reason].join(', ')}`));
  }
  out.line(printable(`${tenant}: ${entries} entries are as they were recorded, up to ${head?.at ?? 'now'}.`));
  for (const [why, count] of Object.entries(forgotten))
    out.line(printable(`The contents of ${count} were removed by ${why}.`));
  if (anchored > 0) out.line(`${anchored} anchored heads agree.`);
  out.line(`Signed with ${public_key}`);
}
