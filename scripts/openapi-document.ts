/** The OpenAPI document of the API with all features, without a server. */
import type { ApiDeps } from '#api/deps.ts';
import { createServer } from '#api/server/server.ts';
import { FEATURES } from '#features';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

export interface Operation {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Schema & { readonly default?: unknown };
  }[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

/** Stands for every part of the API that routes use only when a request comes. */
const ABSENT: unknown = new Proxy(() => undefined, {
  get: (_target, name) => (name === 'then' || name === Symbol.toPrimitive ? undefined : ABSENT),
  apply: () => ABSENT,
});

export async function readDocument(): Promise<Readonly<Record<string, Readonly<Record<string, Operation>>>>> {
  const settings = { rateLimitPerMinute: 0, bodyLimitBytes: 1, corsOrigins: [], allowedHosts: [] };
  const own: Record<string, unknown> = { features: FEATURES, settings, logLevel: 'silent' };
  for (const name of ['codec', 'logs', 'findPage', 'findCredential', 'webConsole']) own[name] = undefined;
  const deps = new Proxy(own, { get: (all, name) => (name in all ? all[String(name)] : ABSENT) });
  const app = await createServer(deps as unknown as ApiDeps);
  return app.swagger().paths as never;
}
