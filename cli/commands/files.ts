/** Implements `tempoclaw files`: context files and memory with their versions. Texts come from a file or a pipe. */
import type { Command } from 'commander';
import type { z } from 'zod';
import { DOCUMENT_LIMITS } from '#domain/document.ts';
import { documents, type versionSchema } from '#domain/resource/documents.ts';
import { addApiCommand, addList, type Flags } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { readPipe, readTextFile } from '#cli/object-file.ts';
import { printJson, printText } from '#cli/output.ts';

const USER = {
  user: { flags: '--user <user>', help: 'whose; the agent’s own when absent' },
} as const satisfies Flags;
const EXPECTED = {
  expected_revision: {
    flags: '--expected-revision <n>',
    help: 'only if the last write has it',
    kind: 'number',
  },
} as const satisfies Flags;

const files = '/v1/agents/:agent/files';
const file = `${files}/:name` as const;

type FileRow = z.output<typeof documents.operations.listFiles.answer>['data'][number];

export function register(parent: Command): void {
  addList<FileRow>(parent, {
    help: 'what a user sees, or the agent has',
    path: files,
    isWhole: true,
    flags: USER,
    columns: [
      { title: 'file', cell: ({ path }) => path, flexible: true },
      { title: 'of', cell: ({ user }) => user ?? 'the agent' },
      { title: 'revision', cell: ({ revision }) => revision },
      { title: 'bytes', cell: ({ bytes }) => bytes },
      { title: 'written', cell: (row) => row.updated_at, ago: true },
    ],
    nothing: 'No files.',
  });
  addApiCommand(parent, {
    word: 'show',
    help: 'the text of one',
    path: file,
    flags: USER,
    print: ({ out }, { text }: { readonly text: string }) => printText(out, text),
  });
  addApiCommand(parent, {
    word: 'set',
    help: 'write one, from --file or a pipe',
    method: 'PUT',
    path: file,
    flags: {
      ...USER,
      ...EXPECTED,
      file: { flags: '--file <path>', help: 'its text; - is a pipe', default: '-' },
    },
    asks: ({ user }) => ({ user }),
    sends: async ({ file: from = '-', expected_revision }) => ({
      text:
        from === '-' ? await readPipe(DOCUMENT_LIMITS.bytes, 'The text is too long.') : readTextFile(from),
      expected_revision,
    }),
    print: ({ out }, row: FileRow) => out.line(`${row.path} has revision ${row.revision}`),
  });
  addApiCommand(parent, {
    word: 'delete',
    help: 'remove one',
    method: 'DELETE',
    path: file,
    flags: USER,
    sends: ({ user }) => ({ user }),
    answer: ({ name }) => ({ path: name, deleted: true }),
    print: ({ out }, _answer, { name }) => out.line(`${name} is deleted`),
  });
  addHistory(parent);
  addUndo(parent);
}

function addHistory(parent: Command): void {
  addList<z.output<typeof versionSchema>>(parent, {
    word: 'versions',
    help: 'what was written to one, by whom',
    path: `${file}/versions`,
    isWhole: true,
    flags: USER,
    columns: [
      { title: 'revision', cell: ({ revision }) => revision },
      { title: 'by', cell: ({ author }) => author, flexible: true },
      { title: 'for', cell: (row) => row.written_in?.user ?? '' },
      { title: 'in session', cell: (row) => row.written_in?.session ?? '', flexible: true },
      { title: 'turn', cell: (row) => row.written_in?.turn ?? '' },
      { title: 'bytes', cell: ({ bytes }) => bytes ?? 'removed' },
      { title: 'written', cell: (row) => row.created_at, ago: true },
    ],
    nothing: 'It was never written.',
  });
  addApiCommand(parent, {
    word: 'compare',
    help: 'two versions of one, as a unified diff',
    path: `${file}/compare`,
    flags: {
      ...USER,
      from: { flags: '--from <revision>', required: true },
      to: { flags: '--to <revision>', help: 'as it is now when absent' },
    },
    print: ({ out }, { diff }: { readonly diff: string }) => printText(out, diff || 'They are the same.'),
  });
  addApiCommand(parent, {
    word: 'restore',
    help: 'write an earlier version again',
    method: 'POST',
    path: `${file}/restore`,
    arguments: ['revision'],
    flags: { ...USER, ...EXPECTED },
    asks: ({ user }) => ({ user }),
    sends: ({ revision, expected_revision }) => ({ revision: Number(revision), expected_revision }),
    print: ({ out }, row: FileRow) => out.line(`${row.path} has revision ${row.revision}`),
  });
}

function addUndo(parent: Command): void {
  const { listFileVersions, restoreFile, deleteFile } = documents.operations;
  parent
    .command('undo')
    .description('take back the last write of one, whoever made it: what was before it is there again')
    .argument('<agent>')
    .argument('<name>')
    .option(USER.user.flags, USER.user.help)
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
