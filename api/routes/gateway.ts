/** Serves the state of the deployment to its operators. */
import { gateway as resource } from '#domain/resource/gateway.ts';
import { statfs } from 'node:fs/promises';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { databaseBytes, listSweepParts } from '#store/sweep-store.ts';
import { listLiveWorkers } from '#store/worker-store.ts';
import type { Caller } from '../server/auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { gateway, pool, temporal, settings, features } = deps;
  const onRequest = ({ tenant, scopes }: Caller) => ({ tenant, scopes: [...scopes] });
  serveResource(app, resource, {
    async getGateway({ caller }) {
      const { workers, ...status } = await gateway.status(onRequest(caller));
      const own = features.flatMap(({ name, own }) => (own ? [{ name, digest: own.digest }] : []));
      return { ...status, workers: [...workers], features: own };
    },
    async getInstallationHealth({ caller }) {
      const { version, ...status } = await gateway.status(onRequest(caller));
      const [workers = [], sweep = [], bytes = null, queues = [], disk = null] = await Promise.all([
        withTimeout(PATIENCE_MS, listLiveWorkers(pool).catch(ignore)),
        withTimeout(PATIENCE_MS, listSweepParts(pool).catch(ignore)),
        withTimeout(PATIENCE_MS, databaseBytes(pool).catch(ignore)),
        temporal.backlog(PATIENCE_MS).catch(ignore),
        settings.stateDir === undefined ? null : diskOf(settings.stateDir).catch(ignore),
      ]);
      const { postgres, temporal: reached } = status;
      return {
        version,
        postgres,
        temporal: reached,
        workers,
        queues: [...queues],
        sweep,
        disk,
        database_bytes: bytes,
      };
    },
    async getSettings({ caller, query: { path } }) {
      return { path, value: gateway.config(onRequest(caller), path) };
    },
    async reloadSettings({ caller }) {
      const { applied, restart } = await gateway.reload(onRequest(caller));
      return { applied: [...applied], restart: [...restart] };
    },
  });
}

const PATIENCE_MS = 2_000;

/** `postgres` and `temporal` of the answer say which of them does not answer. */
function ignore(): undefined {}

async function diskOf(folder: string) {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}
