/** Implements `tempoclaw artifacts`: files that messages and tools name `artifact:ID`. */
import { outputFile } from '#cli/output-file.ts';
import { createReadStream, createWriteStream } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext, pathOf } from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';

interface Artifact {
  readonly id: string;
  readonly type: string;
  readonly bytes: number;
}

export function register(parent: Command): void {
  parent
    .command('put')
    .description('keep a file; - is a pipe')
    .argument('<file>')
    .option('--type <type>', 'what it is, checked by its bytes', 'application/octet-stream')
    .option('--filename <name>', 'its name; that of the file when absent')
    .option('--user <user>', 'whose; the tenant’s when absent')
    .action(put);
  parent
    .command('get')
    .description('fetch one, to a file or a pipe')
    .argument('<id>')
    .option('-o, --out <file>', 'where to; a pipe when absent', outputFile)
    .action(get);
}

async function put(
  file: string,
  options: ApiOptions & { readonly type: string; readonly filename?: string; readonly user?: string },
): Promise<void> {
  const context = createContext(options);
  const bytes = await buffer(file === '-' ? process.stdin : createReadStream(file)).catch(
    (error: unknown) => {
      throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    },
  );
  const { type, user, filename = file === '-' ? undefined : basename(file) } = options;
  const response = await context.client.raw('POST', '/v1/artifacts', {
    query: { filename, user },
    headers: { 'content-type': type },
    body: bytes,
  });
  const artifact = (await response.json()) as Artifact;
  if (context.json) return printJson(context.out, artifact);
  context.out.line(`artifact:${artifact.id}`);
  context.err.line(context.err.paint('dim', `${artifact.type}, ${artifact.bytes} bytes`));
}

async function get(id: string, options: ApiOptions & { readonly out?: string }): Promise<void> {
  const { client } = createContext(options);
  const { body } = await client.raw('GET', pathOf('artifacts', id.replace(/^artifact:/, '')), {});
  const to = options.out === undefined ? process.stdout : createWriteStream(options.out);
  await pipeline(Readable.fromWeb((body ?? new Blob([]).stream()) as never), to, {
    end: options.out !== undefined,
  });
}
