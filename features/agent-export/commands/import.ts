/** Implements `tempoclaw import`: it makes an agent from a file that `export` wrote. */
import type { Command } from 'commander';
import { EXPORT_BYTES, EXPORT_TYPE, type Imported } from '../schema.ts';
import { usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext, pathOf } from '#cli/command-context.ts';
import { readPipe, readTextFile } from '#cli/object-file.ts';
import { printJson } from '#cli/output.ts';

interface ImportOptions extends ApiOptions {
  readonly as?: string;
  readonly replace?: true;
  readonly trusted?: true;
}

export function register(command: Command): void {
  command
    .argument('<file>', '- is a pipe')
    .option('--as <key>', 'of the agent that is made; that of the file when absent')
    .option('--replace', 'overwrite what is there and differs')
    .option('--trusted', 'the file is your own: what it says is not from outside, or agreed to, is so')
    .action(async (file: string, options: ImportOptions) => {
      const { client, out, json } = createContext(options);
      const text = file === '-' ? await readPipe(EXPORT_BYTES, 'The file is too long.') : readTextFile(file);
      const key = options.as ?? keyIn(text);
      if (key === undefined)
        throw usageError(`${file} is no export of an agent.`, 'Make one: npx tempoclaw export AGENT > FILE');
      const answer = await client.raw('PUT', pathOf('agents', key, 'import'), {
        query: { replace: options.replace, trusted: options.trusted },
        headers: { 'content-type': EXPORT_TYPE },
        body: Buffer.from(text),
      });
      const done = (await answer.json()) as Imported;
      if (json) return printJson(out, done);
      out.line(
        `${key} is ${done.agent}: ${done.documents} documents written, ${done.skills} skills published`,
      );
    });
}

/** Reads the agent's key from the first line; the API checks the rest of it. */
function keyIn(text: string): string | undefined {
  try {
    const { agent } = JSON.parse(text.slice(0, text.indexOf('\n'))) as {
      readonly agent?: { readonly key?: unknown };
    };
    return typeof agent?.key === 'string' ? agent.key : undefined;
  } catch {
    return undefined;
  }
}
