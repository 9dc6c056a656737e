/** Serves programs with credentials from sealed rows, merged with presets and previous values. */
import type { z } from 'zod';
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
} from './store.ts';
import { Failure, fieldFailure, limitReached } from '#domain/errors.ts';
import { type secureCliPutSchema, secureClis } from './resource.ts';
import { SECURE_CLI_PRESETS, type SecureCliPreset } from './rules/presets.ts';
import type { SecureCli } from './rules/secure-cli.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { requireAgents } from '#api/require-agents.ts';
import { refuseUnknownSecrets } from '#api/refuse-unknown-secrets.ts';
import { serveResource } from '#api/serve-resource.ts';

/** Two writers may change the same program at once. The loser tries again, but not forever. */
const CHANGE_TRIES = 5;

type SecureCliPut = z.infer<typeof secureCliPutSchema>;

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { sealer } = deps.secrets;

  serveResource(app, secureClis, {
    listSecureClis: async ({ tenant, db }) => ({
      data: (await listSecureClis(db)).map((row) => showCli(deps, tenant, row)),
    }),
    async getSecureCli({ tenant, db, params }) {
      const row = await findSecureCli(db, params.name);
      return row && showCli(deps, tenant, row);
    },
    async setSecureCli({ tenant, db, by, params: { name }, body }) {
      if (body.binary_name !== undefined && body.binary_name !== name)
        throw new Failure(
          'Unprocessable',
          `binary_name is ${body.binary_name}, and the address is of ${name}`,
        );
      const agents = (body.agents ?? []).map((key, at) => [`body/agents/${at}`, key] as const);
      await requireAgents(
        db,
        agents.filter(([, key]) => key !== '*'),
      );
      const values = (body.env ?? []).map(({ value }, at) => [`body/env/${at}/value`, value] as const);
      await refuseUnknownSecrets(db, values);
      const preset = presetOf(body.preset);
      for (let tries = 1; tries <= CHANGE_TRIES; tries += 1) {
        const old = await findSecureCli(db, name);
        const cli = merged(name, body, preset, old);
        checkPatterns(cli);
        const variables = variablesOf(body, preset) ?? (old ? opened(deps, tenant, old) : []);
        checkVariables(variables, preset);
        const sealed = sealer.seal(JSON.stringify(variables), secureCliPlace(tenant, name));
        const row = await putSecureCli(db, { cli, sealed, keyId: sealer.keyId, by }, old);
        if (row) return showCli(deps, tenant, row);
        if (!old && !(await findSecureCli(db, name))) throw limitReached(MAX_SECURE_CLIS, 'programs');
      }
      throw new Failure('Conflict', `${name} is being changed by others at the same time; try again`);
    },
    deleteSecureCli: ({ db, params }) => deleteSecureCli(db, params.name),
  });
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

/** The request's fields override the preset, and that overrides the previous values. */
function merged(
  name: string,
  body: SecureCliPut,
  preset: SecureCliPreset | undefined,
  old: SecureCliRow | undefined,
): SecureCli {
  const {
    env: _,
    preset: __,
    binary_name: ___,
    ...all
  } = { ...DEFAULTS, ...old?.config, ...preset, ...body, name };
  // This removes fields that are present but undefined.
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

function variablesOf(
  body: SecureCliPut,
  preset: SecureCliPreset | undefined,
): readonly CliVariable[] | undefined {
  return body.env?.map(({ name, kind, value }) => ({
    name,
    kind: kind ?? preset?.env.find((each) => each.name === name)?.kind ?? 'sensitive',
    value,
  }));
}

function checkVariables(variables: readonly CliVariable[], preset: SecureCliPreset | undefined): void {
  const names = variables.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw fieldFailure('Unprocessable', 'body/env', `names ${twice} twice`);
  const missing = preset?.env.find(({ name, optional }) => !optional && !names.includes(name));
  if (missing)
    throw fieldFailure('Unprocessable', 'body/env', `this preset needs ${missing.name} (${missing.kind})`);
}

/** For sealing again, or to list names; values go nowhere else. */
function opened(deps: ApiDeps, tenant: string, row: SecureCliRow): readonly CliVariable[] {
  return JSON.parse(deps.secrets.sealer.open(row.sealed, secureCliPlace(tenant, row.name))) as CliVariable[];
}

function showCli(deps: ApiDeps, tenant: string, row: SecureCliRow) {
  return {
    ...row,
    host: false,
    user_env: [],
    ...row.config,
    env: opened(deps, tenant, row).map(({ name, kind }) => ({ name, kind })),
  };
}
