/** Provides what the tools that read and make media need in a worker. */
import { join } from 'node:path';
import { commandFolders } from '#config';
import type { WorkerPart } from '#domain/feature.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createMediaMakingTools } from './making/media-making-tools.ts';
import { MEDIA_FOLDER } from '#activities/process/state-folders.ts';
import { openArtifacts } from '#features/artifacts/index.ts';
import { removeLeftFolders } from '@tempoclaw/sandbox';
import { createMediaReadingTools } from './reading/media-reading-tools.ts';

export async function createWorkerPart(core: WorkerCore): Promise<WorkerPart> {
  const { stateDir, media: settings, models } = core.config;
  const dir = join(stateDir, MEDIA_FOLDER);
  await removeLeftFolders(dir);
  const artifacts = openArtifacts(core.pool, core.config, core.resolveSecret);
  const parts = { ...core, ...artifacts, folders: commandFolders(), dir };
  const reading = createMediaReadingTools(parts);
  const mediaPlaces = { settings, providers: models.providers };
  const making = createMediaMakingTools({ ...parts, open: reading.media.open, mediaPlaces });
  return { tools: { ...reading, ...making } };
}
