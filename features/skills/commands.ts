/** Implements `tempoclaw skills`: skills that agents find, and the folders that they are published from. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { z } from 'zod';
import { skills as resource } from './resource.ts';
import type { skillGrantSchema, skillVersionSchema } from './schema.ts';
import { SKILL_FILE, SKILL_LIMITS, SKILL_VISIBILITIES } from './rules/skill.ts';
import { addApiCommand, addList } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';

const GRANT = '/v1/skills/:name/grants/:kind/:subject';

type Version = z.output<typeof skillVersionSchema>;
type Grant = z.output<typeof skillGrantSchema>;

export function register(skills: Command): void {
  addCommands(skills, resource, { publishSkill: addPublish });
  addList<Version>(skills, {
    word: 'versions',
    help: 'the versions of one, the newest first',
    path: '/v1/skills/:name/versions',
    isWhole: true,
    columns: [
      { title: 'version', cell: ({ version }) => version },
      { title: 'sha256', cell: ({ sha256 }) => sha256.slice(0, 12) },
      { title: 'published by', cell: ({ published_by }) => published_by, flexible: true },
      { title: 'published', cell: ({ created_at }) => created_at, ago: true },
    ],
    nothing: 'There is no version of it.',
  });
  addList<Grant>(skills, {
    word: 'grants',
    help: 'who may use a private one',
    path: '/v1/skills/:name/grants',
    isWhole: true,
    columns: [
      { title: 'for', cell: ({ kind, subject }) => `${kind} ${subject}` },
      { title: 'granted by', cell: ({ granted_by }) => granted_by, flexible: true },
    ],
    nothing: 'There is no grant on it.',
  });
  addApiCommand(skills, {
    word: 'grant',
    help: 'let an agent or a user use a private one; KIND is agent or user',
    method: 'PUT',
    path: GRANT,
    print: ({ out }, { kind, subject }: Grant, { name }) => out.line(`${kind} ${subject} may use ${name}`),
  });
  addApiCommand(skills, {
    word: 'revoke',
    help: 'take a grant back',
    method: 'DELETE',
    path: GRANT,
    answer: ({ kind, subject }) => ({ kind, subject, deleted: true }),
    print: ({ out }, _answer, { name, kind, subject }) =>
      out.line(`the grant of ${kind} ${subject} on ${name} is taken back`),
  });
}

function addPublish(skills: Command): void {
  skills
    .command('publish')
    .description(`publish a folder with a ${SKILL_FILE}; its name is the skill's`)
    .argument('<folder>')
    .option('--visibility <visibility>', `${SKILL_VISIBILITIES.join(' or ')} (default: private)`)
    .action(async (value: string, options: ApiOptions & { readonly visibility?: string }) => {
      const context = createContext(options);
      const folder = resolve(value);
      const body = {
        files: await readFolder(folder),
        visibility: options.visibility as 'private' | undefined,
      };
      const name = basename(folder).normalize('NFKC');
      const done = await call(context.client, resource.operations.publishSkill, { params: { name }, body });
      if (context.json) printJson(context.out, done);
      else
        context.out.line(
          `${name} ${done.is_new ? 'is published as' : 'is what it was:'} version ${done.version}, ${done.visibility}`,
        );
    });
}

/** Names that begin with a dot are skipped. */
async function readFolder(folder: string): Promise<{ path: string; content: string }[]> {
  const files: { path: string; content: string }[] = [];
  let width: number = SKILL_LIMITS.bytes;
  const below = async (at: string): Promise<void> => {
    const names = await readdir(at).catch(() => {
      throw new CliError(`${at} is no folder that can be read.`);
    });
    for (const name of names.filter((one) => !one.startsWith('.')).toSorted()) {
      const found = join(at, name);
      const path = relative(folder, found).replaceAll('\\', '/');
      const stat = await lstat(found);
      if (stat.isDirectory() && path.split('/').length < SKILL_LIMITS.depth) {
        await below(found);
        continue;
      }
      width -= stat.size;
      if (!stat.isFile())
        throw new CliError(`${path} is a link, too deep or no plain file; put the file itself there.`);
      if (width < 0 || files.length === SKILL_LIMITS.files)
        throw new CliError(
          `A skill has at most ${SKILL_LIMITS.files} files and ${SKILL_LIMITS.bytes} bytes.`,
        );
      files.push({ path, content: (await readFile(found)).toString('base64') });
    }
  };
  await below(folder);
  return files;
}
