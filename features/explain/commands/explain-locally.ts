/** Explains without a server: it uses the same functions as a turn, with the settings of this folder and no rows. */
import { deniedPrefixes } from '#domain/files/path-rules.ts';
import { toolPolicyOf } from '#domain/policy/settings-tools.ts';
import { resolve as resolvePath } from 'node:path';
import { childEnvironment, loadConfig } from '#config';
import { createHostPrograms } from '#policy/host-programs.ts';
import { judgePath } from '#activities/workspace/judge-path.ts';
import { loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { explainCase } from '../policy/explain-case.ts';
import { resolveHost } from '@tempoclaw/egress/resolve-host';
import type { AgentConfig } from '#domain/agent.ts';
import { Failure } from '#domain/errors.ts';
import type { ExplainAnswer, ExplainKind } from '../schema/explain.ts';

export type Explain = (kind: ExplainKind, value: unknown) => Promise<ExplainAnswer | ExplainError>;

export interface ExplainError {
  readonly error: { readonly code: string; readonly message: string };
}

/**
 * `config` is a settings file other than tempoclaw.yaml. Throws ConfigError; wrong cases are answered with an error.
 */
export async function createLocalExplain(
  options: { readonly config?: string | undefined } = {},
): Promise<Explain> {
  const { tools, exec, models, workspaceRoot, sandbox } = loadConfig({ flags: { config: options.config } });
  const catalog = await loadCatalog(FEATURES);
  const deps = {
    catalogOf: async () => catalog,
    settings: { tools: toolPolicyOf(tools), exec, sandbox, deniedPaths: deniedPrefixes(tools.denied_paths) },
    // Without rows, only the key of an agent is known. Its own rules are in the case or on the server.
    agentOf: async (key = 'main') => ({
      agent: unknownAgent(key, models.default),
      tenant_policy: null,
      allowlist: [],
    }),
    workspaceOf: async (input: { readonly workspace?: string | undefined }) =>
      resolvePath(input.workspace ?? '.'),
    judgePath,
    resolve: resolveHost,
    resolveProgram: createHostPrograms(childEnvironment({}), workspaceRoot),
  };
  return async (kind, value) => {
    try {
      return await explainCase(deps, kind, value);
    } catch (error) {
      // One case that fails, expectedly or not, must not prevent those after it.
      const code = error instanceof Failure ? error.type : 'Internal';
      return { error: { code, message: error instanceof Error ? error.message : String(error) } };
    }
  };
}

function unknownAgent(key: string, model = 'rehearsal/welcome'): AgentConfig {
  return { key, type: 'open', model };
}
