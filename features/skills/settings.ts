/** Skills of the whole installation: folders with one subfolder each. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
const schema = z
  .strictObject({ folders: z.array(z.string().min(1).max(4_096)).max(20).default([]) })
  .prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly skills: z.output<typeof schema>;
  }
}

export const skillsSettings = defineSection({
  name: 'skills',
  schema,
  variables: [[['TEMPOCLAW_SKILLS_FOLDERS'], 'skills.folders', 'list']],
  finish: ({ folders }, folder) => ({ folders: folders.map((each) => resolve(folder, each)) }),
  // Their contents are trusted, so agents must not be able to write there.
  problems: ({ folders }, { workspaceRoot }) =>
    folders.flatMap((folder) => {
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
        return [`skills.folders: ${folder} is no folder; make it, or take it out`];
      if (!`${folder}/`.startsWith(`${workspaceRoot}/`)) return [];
      return [`skills.folders: ${folder} lies within the workspaces, where commands of agents write`];
    }),
});
