/** Provides the browsers of a worker, which the tools browser and canvas need. */
import { join } from 'node:path';
import { removeLeftFolders } from '@tempoclaw/sandbox';
import { commandFolders } from '#config';
import type { WorkerPart } from '#domain/feature.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { createBrowsers } from './activities/browsers.ts';
import { profilesFolder } from './activities/chromium.ts';
import { createBrowserPlaces } from './store/browser-place.ts';
import { lastBrowserPage } from './store/last-page.ts';

export async function createWorkerPart({ config, pool, egress, machine }: WorkerCore): Promise<WorkerPart> {
  const { boxes, bubblewrap, environment, worker, queue } = machine;
  const dir = join(config.stateDir, 'browser');
  await removeLeftFolders(profilesFolder(dir));
  const browsers = createBrowsers({
    ...config.browser,
    boxing: { boxes, bubblewrap },
    idleMs: config.browser.idleMinutes * 60_000,
    folders: commandFolders(),
    dir,
    environment,
    worker,
    egress,
    shared: queue === undefined ? undefined : { places: createBrowserPlaces(pool), queue },
    lastPage: (tenant, session) => lastBrowserPage(forTenant(pool, tenant), session),
  });
  return {
    tools: { browsers },
    async endSession(tenant, session) {
      await browsers.end(tenant, session);
    },
    close: () => browsers.close(),
  };
}
