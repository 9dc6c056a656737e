/** Implements `tempoclaw skills`: skills that agents find, and the folders that they are published from. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { skills as resource } from './resource.ts';
import { SKILL_FILE, SKILL_LIMITS, SKILL_VISIBILITIES } from './rules/skill.ts';
import { addCommands } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { CliError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';

export function register(skills: Command): void {
  addCommands(skills, resource);
  addPublish(skills);
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
