/** Implements `tempoclaw skills`: skills that agents find, and the folders that they are published from. */
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { skills as resource } from './resource.ts';
import { SKILL_FILE, SKILL_VISIBILITIES } from './rules/skill.ts';
import { readFolder } from './read-folder.ts';
import { addCommands } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
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
