/** The operations of the OpenAPI document, as the API returns it. */
import type { Scope } from '#domain/schema/api-key.ts';

export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Undefined if it needs no key. */
  readonly scope: Scope | undefined;
  /** Whether it looks up what its address names. */
  readonly looks: boolean;
  readonly example: unknown;
}

/** Operations that create what their address names if it does not exist. */
const MAKERS = new Set(['sendMessage', 'publishSkill']);

export function operationsOf(document: any): readonly Operation[] {
  return Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase() as Operation['method'],
      path,
      scope: /Scope: `(\w+)`/.exec(operation.description ?? '')?.[1] as Scope | undefined,
      looks: path.includes('{') && '404' in operation.responses && !MAKERS.has(operation.operationId),
      example: exampleOf(operation.requestBody?.content?.['application/json']),
    })),
  );
}

function exampleOf(body: any): unknown {
  const [named]: any[] = Object.values(body?.examples ?? {});
  return body?.example ?? named?.value ?? body?.schema?.examples?.[0];
}
