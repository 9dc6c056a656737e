/** Programs with credentials of the caller's tenant (SH-4): who may use them, under which rules, and with what. */
import { z } from 'zod';
import { patternProblem } from '#policy/deny-pattern.ts';
import {
  type CliVariable,
  deleteSecureCli,
  findSecureCli,
  listSecureClis,
  MAX_SECURE_CLIS,
  putSecureCli,
  secureCliPlace,
  type SecureCliRow,
} from '#store/secure-cli-store.ts';
import { Failure } from '#domain/errors.ts';
import { binaryNameSchema, secureCliPutSchema, secureCliSchema } from '#domain/schema/secure-cli.ts';
import { SECURE_CLI_PRESETS, type SecureCliPreset } from '#domain/secure-cli/presets.ts';
import type { SecureCli } from '#domain/secure-cli/secure-cli.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';

type Given = z.infer<typeof secureCliPutSchema>;

const nameParams = z.object({ name: binaryNameSchema });

export function addSecureCliRoutes(app: Api, deps: ApiDeps): void {
  addReads(app, deps);
  addPut(app, deps);
  addDelete(app, deps);
}

function addReads(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/secure-clis',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['secrets'],
        operationId: 'listSecureClis',
        summary: 'List programs with credentials',
        response: { 200: z.object({ data: z.array(secureCliSchema) }), ...problems() },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const rows = await listSecureClis(deps.pool, tenant);
      return { data: rows.map((row) => showCli(deps, tenant, row)) };
    },
  );

  app.get(
    '/v1/secure-clis/:name',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['secrets'],
        operationId: 'getSecureCli',
        summary: 'Get a program with credentials',
        params: nameParams,
        response: { 200: secureCliSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const row = await findSecureCli(deps.pool, tenant, request.params.name);
      if (!row) throw notFound();
      return showCli(deps, tenant, row);
    },
  );
}

function addPut(app: Api, deps: ApiDeps): void {
  app.put(
    '/v1/secure-clis/:name',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['secrets'],
        operationId: 'setSecureCli',
        summary: 'Give a program credentials, or change its rules',
        description:
          'It can then be run by `credentialed_exec` alone, by the agents named. What is absent stays as it was, or comes from the preset.',
        params: nameParams,
        body: secureCliPutSchema,
        response: { 200: secureCliSchema, ...problems('Unprocessable') },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { tenant } = caller;
      const { name } = request.params;
      const given = request.body;
      const old = await findSecureCli(deps.pool, tenant, name);
      const preset = presetOf(given.preset);
      const cli = merged(name, given, preset, old);
      checkPatterns(cli);
      const variables = variablesOf(given, preset) ?? (old ? opened(deps, tenant, old) : []);
      checkVariables(variables, preset);
      const { sealer } = deps.secrets;
      const row = await putSecureCli(deps.pool, tenant, {
        cli,
        sealed: sealer.seal(JSON.stringify(variables), secureCliPlace(tenant, name)),
        keyId: sealer.keyId,
        by: signatureOf(caller),
      });
      if (!row)
        throw new Failure('Unprocessable', `There are ${MAX_SECURE_CLIS} programs, which is the most`);
      return showCli(deps, tenant, row);
    },
  );
}

function addDelete(app: Api, deps: ApiDeps): void {
  app.delete(
    '/v1/secure-clis/:name',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['secrets'],
        operationId: 'deleteSecureCli',
        summary: 'Take a program its credentials',
        params: nameParams,
        response: { 204: z.null(), ...problems('NotFound') },
      },
    },
    async (request, reply) => {
      if (!(await deleteSecureCli(deps.pool, callerOf(request).tenant, request.params.name)))
        throw notFound();
      return reply.code(204).send(null);
    },
  );
}

function notFound(): Failure {
  return new Failure('NotFound', 'There is no program with credentials of this name');
}

function presetOf(name: string | undefined): SecureCliPreset | undefined {
  if (name === undefined) return undefined;
  const preset = Object.hasOwn(SECURE_CLI_PRESETS, name) ? SECURE_CLI_PRESETS[name] : undefined;
  if (preset) return preset;
  const known = Object.keys(SECURE_CLI_PRESETS).join(', ');
  throw new Failure('Unprocessable', `There is no preset ${name}; there are ${known}`);
}

const DEFAULTS: Omit<SecureCli, 'name'> = {
  agents: [],
  deny_args: [],
  deny_verbose: [],
  keyword_allowlist: [],
  timeout_seconds: 30,
  tips: '',
};

/** What is given wins over the preset, and that over what was before. */
function merged(
  name: string,
  given: Given,
  preset: SecureCliPreset | undefined,
  old: SecureCliRow | undefined,
): SecureCli {
  const { env: _, preset: __, ...all } = { ...DEFAULTS, ...old?.config, ...preset, ...given, name };
  // Without the fields that are there but undefined.
  return JSON.parse(JSON.stringify(all)) as SecureCli;
}

function checkPatterns(cli: SecureCli): void {
  const errors = (['deny_args', 'deny_verbose'] as const).flatMap((list) =>
    cli[list].flatMap((pattern, at) => {
      const problem = patternProblem(pattern);
      return problem === undefined ? [] : [{ pointer: `body/${list}/${at}`, message: problem }];
    }),
  );
  if (errors[0]) throw new Failure('Unprocessable', `${errors[0].pointer}: ${errors[0].message}`, { errors });
}

function variablesOf(given: Given, preset: SecureCliPreset | undefined): readonly CliVariable[] | undefined {
  return given.env?.map(({ name, kind, value }) => ({
    name,
    kind: kind ?? preset?.env.find((each) => each.name === name)?.kind ?? 'sensitive',
    value,
  }));
}

function checkVariables(variables: readonly CliVariable[], preset: SecureCliPreset | undefined): void {
  const names = variables.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Failure('Unprocessable', `env names ${twice} twice`);
  const missing = preset?.env.find(({ name, optional }) => !optional && !names.includes(name));
  if (missing) throw new Failure('Unprocessable', `env: this preset needs ${missing.name} (${missing.kind})`);
}

/** To be sealed again, or to be told by name; values go nowhere else. */
function opened(deps: ApiDeps, tenant: string, row: SecureCliRow): readonly CliVariable[] {
  return JSON.parse(deps.secrets.sealer.open(row.sealed, secureCliPlace(tenant, row.name))) as CliVariable[];
}

function showCli(deps: ApiDeps, tenant: string, row: SecureCliRow): z.infer<typeof secureCliSchema> {
  const { agents, host = false, deny_args, deny_verbose, keyword_allowlist, ...rest } = row.config;
  return {
    name: row.name,
    ...rest,
    agents: [...agents],
    host,
    deny_args: [...deny_args],
    deny_verbose: [...deny_verbose],
    keyword_allowlist: keyword_allowlist.map(({ subcommands, args, keywords }) => ({
      subcommands: [...subcommands],
      args: [...args],
      keywords: [...keywords],
    })),
    env: opened(deps, tenant, row).map(({ name, kind }) => ({ name, kind })),
    updated_by: row.updated_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
