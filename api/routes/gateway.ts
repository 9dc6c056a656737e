/** Serves the state of the deployment to its operators. */
import { gateway as resource } from '#domain/resource/gateway.ts';
import type { Caller } from '../server/auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, { gateway }: ApiDeps): void {
  const onRequest = ({ tenant, scopes }: Caller) => ({ tenant, scopes: [...scopes] });
  serveResource(app, resource, {
    async getGateway({ caller }) {
      const { workers, ...status } = await gateway.status(onRequest(caller));
      return { ...status, workers: [...workers] };
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
