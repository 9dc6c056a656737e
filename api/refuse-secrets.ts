/**
 * SC-3: what is refused where it holds a secret: keys and ids, which name workflows, rows and addresses, and definitions, which stand
 * there as they were written. Messages, arguments and files are scrubbed or sealed instead.
 */
import { Failure } from '#domain/errors.ts';
import { isRecord } from '#domain/outside-value.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import { callerOf } from './auth.ts';
import type { Api, ApiDeps } from './deps.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What its body defines is kept as it is. */
    isDefinition?: true | undefined;
  }
}

/** Many texts of a definition may hold one. */
const MAX_TOLD = 50;

export function refuseSecretsOfRoutes(app: Api, deps: Pick<ApiDeps, 'secrets'>): void {
  app.addHook('preHandler', async (request) => {
    const { scope, isDefinition } = request.routeOptions.config;
    if (scope === 'public' || request.method === 'GET' || request.method === 'DELETE') return;
    const scrubber = await deps.secrets.vault.scrubberOf(callerOf(request).tenant);
    refuseSecretIds(scrubber, request.params, 'params');
    if (isDefinition) refuseSecretDefinition(scrubber, request.body, 'body');
  });
}

/** @throws Failure Unprocessable */
export function refuseSecretIds(scrubber: Scrubber, ids: unknown, where: string): void {
  const found = Object.entries(isRecord(ids) ? ids : {})
    // The word says that long hex digits of an id are a digest.
    .filter(([, id]) => typeof id === 'string' && scrubber.text(`checksum ${id}`) !== `checksum ${id}`)
    .map(([name]) => `${where}/${name}`);
  refuse(found, 'a key or id, which everybody sees');
}

/** @throws Failure Unprocessable */
export function refuseSecretDefinition(scrubber: Scrubber, value: unknown, where: string): void {
  if (isRecord(value))
    refuse(changed(value, scrubber.args(value), where), 'a definition; name a stored one as secret://NAME');
}

function refuse(pointers: readonly string[], of: string): void {
  const errors = pointers
    .slice(0, MAX_TOLD)
    .map((pointer) => ({ pointer, message: `holds a secret, and is part of ${of}` }));
  if (errors[0]) throw new Failure('Unprocessable', `${errors[0].pointer}: ${errors[0].message}`, { errors });
}

/** Where two values differ; a field whose name does is told as its object. */
function changed(value: unknown, scrubbed: unknown, pointer: string): readonly string[] {
  if (value === scrubbed) return [];
  if (!isComposite(value) || !isComposite(scrubbed)) return [pointer];
  return Object.entries(value).flatMap(([name, inner]) =>
    Object.hasOwn(scrubbed, name)
      ? changed(inner, (scrubbed as Readonly<Record<string, unknown>>)[name], `${pointer}/${name}`)
      : [pointer],
  );
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
