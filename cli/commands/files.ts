/** Implements `tempoclaw files`: texts come from a file or a pipe, and `undo` reverts the last write. */
import type { Command } from 'commander';
import { DOCUMENT_LIMITS } from '#domain/files/document.ts';
import { documents } from '#domain/resource/documents.ts';
import { addCommands } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { readPipe, readTextFile } from '#cli/object-file.ts';
import { printJson } from '#cli/output.ts';

export function register(files: Command): void {
  addCommands(files, documents, {
    putFile: {
      sends: async ({
        file,
        expected_revision,
      }: {
        readonly file: string;
        readonly expected_revision?: number;
      }) => ({
        text:
          file === '-' ? await readPipe(DOCUMENT_LIMITS.bytes, 'The text is too long.') : readTextFile(file),
        expected_revision,
      }),
    },
  });
  addUndo(files);
}

function addUndo(parent: Command): void {
  const { listFileVersions, restoreFile, deleteFile } = documents.operations;
  parent
    .command('undo')
    .description('take back the last write of one, whoever made it: what was before it is there again')
    .argument('<agent>')
    .argument('<name>')
    .option('--user <user>', 'whose; the agent’s own when absent')
    .action(async (agent: string, name: string, options: ApiOptions & { readonly user?: string }) => {
      const { client, out, json } = createContext(options);
      const request = { params: { agent, name }, query: { user: options.user } };
      const [last, before] = (await call(client, listFileVersions, request)).data;
      if (!last) throw new CliError(`${name} was never written.`);
      const revision = before?.bytes == null ? undefined : before.revision;
      if (revision === undefined) await call(client, deleteFile, request);
      else {
        const expected_revision = last.bytes === null ? 0 : last.revision;
        await call(client, restoreFile, { ...request, body: { revision, expected_revision } });
      }
      const undone = { path: name, undone: last.revision, author: last.author, restored: revision ?? null };
      if (json) printJson(out, undone);
      else
        out.line(
          `revision ${last.revision} of ${name} by ${last.author} is undone: ${revision ? `it is as revision ${revision} was` : 'it is deleted'}`,
        );
    });
}
