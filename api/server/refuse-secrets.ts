/**
 * SC-3: refuses secrets in keys and ids, which name workflows, rows and addresses, and in definitions, which are stored
 * as written. Messages, arguments and files are scrubbed or sealed instead.
 */
import { Failure } from '#domain/errors.ts';
import { isRecord } from '#domain/outside-value.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import { callerOf } from './auth.ts';
import type { Api, ApiDeps } from '../deps.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Present if what the body defines is stored as it is, other than the fields of `except`. */
    isDefinition?: true | { readonly except: readonly string[] } | undefined;
  }
}

const WRITES_NOTHING = new Set(['GET', 'HEAD', 'DELETE']);
/** Limits the listed places, because many texts of a definition may contain a secret. */
const MAX_NAMED = 50;

export function refuseSecretsOfRoutes(app: Api, deps: Pick<ApiDeps, 'secrets'>): void {
  app.addHook('preHandler', async (request) => {
    const { scope, isDefinition } = request.routeOptions.config;
    if (scope === 'public' || WRITES_NOTHING.has(request.method)) return;
    const scrubber = await deps.secrets.vault.scrubberOf(callerOf(request).tenant);
    refuseSecretIds(scrubber, request.params, 'params');
    if (!isDefinition || !isRecord(request.body)) return;
    const except: readonly string[] = isDefinition === true ? [] : isDefinition.except;
    const written = Object.entries(request.body).filter(([name]) => !except.includes(name));
    refuseSecretDefinition(scrubber, Object.fromEntries(written), 'body');
  });
}

/** @throws Failure Unprocessable */
export function refuseSecretIds(scrubber: Scrubber, ids: unknown, where: string): void {
  const found = Object.entries(isRecord(ids) ? ids : {})
    // The word marks long hex digits of an id as a digest.
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
    .slice(0, MAX_NAMED)
    .map((pointer) => ({ pointer, message: `holds a secret, and is part of ${of}` }));
  if (errors[0]) throw new Failure('Unprocessable', `${errors[0].pointer}: ${errors[0].message}`, { errors });
}

/** Pointers to where two values differ. If a field's name differs, the pointer is to its object. */
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
