/** Turns a request about a custom tool into what is stored: merged, checked, its variables sealed. */
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { definitionProblems } from '../policy/check-definition.ts';
import { sealEnvironment } from '../policy/tool-environment.ts';
import { findAgent } from '#store/agent-store.ts';
import type { CustomToolRow, ToolToWrite } from '../store.ts';
import type { Parameters } from '../rules/check-parameters.ts';
import { keysOf } from '../rules/template.ts';
import { Failure } from '#domain/errors.ts';
import type { customToolChangeSchema } from '../schema.ts';
import type { ApiDeps } from '#api/deps.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

/** Requires a text for every placeholder: what a tool without a schema means. */
export function requiredTexts(command: string): Parameters {
  const keys = keysOf(command);
  const properties = Object.fromEntries(keys.map((key) => [key, { type: 'string' }]));
  return { type: 'object', properties, required: keys };
}

export function changedTool(
  old: CustomToolRow,
  input: Omit<z.infer<typeof customToolChangeSchema>, 'env'>,
  env: Readonly<Record<string, string>> | null | undefined,
): ToolToWrite {
  const { revision: _, created_by: _by, created_at: _at, updated_at: _changed, ...fields } = old;
  const set = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const parameters =
    input.parameters === null
      ? requiredTexts(input.command ?? old.command)
      : (input.parameters ?? old.parameters);
  return {
    ...fields,
    ...set,
    parameters,
    env_names: env === undefined ? old.env_names : Object.keys(env ?? {}),
  };
}

/** Whether nothing would change; then no pending call is refused for it. */
export function isSameTool(old: CustomToolRow, tool: ToolToWrite, env: object | null | undefined): boolean {
  if (env && Object.keys(env).length > 0) return false;
  const before: Readonly<Record<string, unknown>> = { ...old };
  return Object.entries(tool).every(([field, value]) => isDeepStrictEqual(value, before[field]));
}

export function sealEnv(
  deps: ApiDeps,
  tenant: string,
  id: string,
  env: Readonly<Record<string, string>> | null,
): NonNullable<ToolToWrite['env']> | null {
  if (env === null || Object.keys(env).length === 0) return null;
  const { sealer } = deps.secrets;
  return { sealed: sealEnvironment(sealer, tenant, id, env), keyId: sealer.keyId };
}

/** @throws Failure Unprocessable for a definition that cannot run, Conflict for a name that a native tool has. */
export async function checkTool(deps: ApiDeps, tenant: string, tool: ToolToWrite): Promise<void> {
  const errors = definitionProblems(tool).map(({ field, message }) => ({
    pointer: `body/${field}`,
    message,
  }));
  if (tool.agent_id !== null && !(await findAgent(forTenant(deps.pool, tenant), tool.agent_id)))
    errors.push({ pointer: 'body/agent_id', message: `there is no agent ${tool.agent_id}` });
  if (errors[0]) throw new Failure('Unprocessable', errors[0].message, { errors });
  if (deps.tools.isNative(tool.name))
    throw new Failure(
      'Conflict',
      `${tool.name} is a tool of TempoClaw's own, or its other name; choose another`,
    );
}
