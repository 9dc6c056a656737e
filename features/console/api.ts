/** The console in the API: its pages, and its sessions in place of keys. */
import type { FastifyRequest } from 'fastify';
import type { ApiCore } from '#api/api-parts.ts';
import type { ApiPart } from '#domain/feature.ts';
import type { ApiKeyRow } from '#store/api-key-store.ts';
import { type BuiltConsole, openBuiltConsole } from './built-files.ts';
import { type ConsoleSessions, createConsoleSessions } from './sessions.ts';

const BUILT = new URL('../../console/dist/', import.meta.url);

declare module '#api/deps.ts' {
  interface FeatureDeps {
    /** Absent when the settings turn the console off. */
    readonly webConsole?: { readonly sessions: ConsoleSessions; readonly files: BuiltConsole };
    /** Other ways to log in: a name for people, and the path of the page that begins it, below that of the console. */
    readonly browserLogins?: readonly { readonly name: string; readonly path: string }[];
    /**
     * Where the browser of a session that has just ended also logs out, and the Set-Cookie values of its answer.
     * @throws Failure Unavailable
     */
    readonly browserLogout?: (
      request: FastifyRequest,
      key: ApiKeyRow,
    ) => Promise<{ readonly location: string | undefined; readonly cookies: readonly string[] }>;
  }
}

export function createApiPart(core: ApiCore): ApiPart {
  const { api, console } = core.config;
  if (!console.enabled) return {};
  const sessions = createConsoleSessions(core);
  const files = openBuiltConsole(BUILT);
  const publicUrl = api.publicUrl === undefined ? undefined : new URL(api.publicUrl);
  return {
    deps: {
      webConsole: { sessions, files },
      findCredential: sessions.find,
      findPage: ({ host }) =>
        files.page(host === publicUrl?.host ? `${publicUrl.pathname.replace(/\/+$/, '')}/` : '/'),
    },
  };
}
