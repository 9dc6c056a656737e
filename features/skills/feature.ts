import { defineFeature } from '#domain/feature.ts';
import { skillsSettings } from './settings.ts';

export const skills = defineFeature({
  name: 'skills',
  summary: 'Instructions that agents find, use and publish.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  settings: [skillsSettings],
  worker: () => import('./worker.ts'),
  tools: [
    () => import('./tools/publish-skill.ts'),
    () => import('./tools/skill-search.ts'),
    () => import('./tools/use-skill.ts'),
  ],
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'skills',
      summary: 'skills that agents find: list, show, publish, versions, grants, grant, revoke, remove',
      load: () => import('./commands.ts'),
    },
  ],
});
