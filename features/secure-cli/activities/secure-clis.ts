/** SH-4: starts programs with the tenant's credentials. The values are only in this call's environment or files. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ToolErrorCode } from '#domain/errors.ts';
import { SecretProblem } from '#domain/secret.ts';
import type { SecureCli } from '../rules/secure-cli.ts';
import { type CommandOutcome, type CommandRequest, type Shell, makeWorkerFolder } from '@tempoclaw/sandbox';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Vault } from '#store/secrets/vault.ts';
import type { CliVariable } from '../store.ts';
import { sealedPart } from '../sealed.ts';
import { findUserCredentials, type UserVariables } from '../user-credentials.ts';
import { findProgram, type ProgramPlaces } from './find-program.ts';

export interface SecureRun extends Omit<CommandRequest, 'command'> {
  readonly tenant: string;
  /** Whose own credentials it gets, where it takes any. */
  readonly user: string | null;
  readonly cli: SecureCli;
  /** The program as the call names it. */
  readonly requested: string;
  readonly args: readonly string[];
}

export type SecureOutcome =
  | { readonly kind: 'ran'; readonly outcome: CommandOutcome }
  | { readonly kind: 'refused'; readonly code: ToolErrorCode; readonly message: string };

/** How long a worker may take to learn what a user has saved: until then, nothing of it would be hidden. */
const LEARN_MS = 5_000;
const LOOK_MS = 50;

export interface SecureClis {
  /** The tenant's programs; throws when they cannot be read, and callers then refuse. */
  list(tenant: string): Promise<readonly SecureCli[]>;
  /** The programs that are already loaded. */
  listNow(tenant: string): readonly SecureCli[];
  /** Whether the user has given all variables that the program takes of each user. */
  hasLogin(tenant: string, cli: Pick<SecureCli, 'name' | 'user_env'>, user: string): Promise<boolean>;
  /** The caller checks whether the arguments are allowed. Never throws for what the program does. */
  run(request: SecureRun): Promise<SecureOutcome>;
}

export function createSecureClis(
  parts: ProgramPlaces & {
    readonly vault: Pick<Vault, 'openedOf' | 'openedNow' | 'resolve'>;
    readonly pool: Pool;
    readonly shell: Shell;
    /** A private folder of ours on this machine. */
    readonly dir: string;
  },
): SecureClis {
  /** The newest that the user has saved, once this process hides it; undefined for none. */
  async function savedBy(tenant: string, name: string, user: string): Promise<UserVariables | undefined> {
    const row = await findUserCredentials(forTenant(parts.pool, tenant), name, user);
    if (!row) return undefined;
    for (const until = performance.now() + LEARN_MS; ; ) {
      const opened = (await parts.vault.openedOf(tenant, sealedPart)).find(({ cli }) => cli.name === name);
      const known = opened?.users.get(user);
      if (known && known.savedAt >= row.given_at.getTime()) return known.values;
      if (performance.now() > until) return undefined;
      await pause(LOOK_MS);
    }
  }

  return {
    list: async (tenant) => (await parts.vault.openedOf(tenant, sealedPart)).map(({ cli }) => cli),
    listNow: (tenant) => (parts.vault.openedNow(tenant, sealedPart) ?? []).map(({ cli }) => cli),

    async hasLogin(tenant, { name, user_env = [] }, user) {
      const saved = user_env.length > 0 ? await savedBy(tenant, name, user) : {};
      return saved !== undefined && user_env.every((variable) => Object.hasOwn(saved, variable));
    },

    async run({ tenant, cli, user, requested, args, ...request }) {
      const found = await findProgram(cli, requested, request.pwd, parts);
      if (!found.ok) return { kind: 'refused', code: found.code, message: found.message };
      const opened = (await parts.vault.openedOf(tenant, sealedPart)).find(
        (each) => each.cli.name === cli.name,
      );
      if (!opened?.variables)
        return refused(`the credentials of ${cli.name} are gone or cannot be opened; ask an admin`);
      const { variables } = opened;
      const { user_env = [] } = cli;
      const saved = (user_env.length > 0 && user !== null && (await savedBy(tenant, cli.name, user))) || {};
      const own = user_env.flatMap((name) => (Object.hasOwn(saved, name) ? [[name, saved[name] ?? '']] : []));
      if (own.length < user_env.length)
        return refused(`the login of the user for ${cli.name} is gone; call again`);
      try {
        return await withPrivateFolder(parts.dir, async (folder) => {
          const environment = {
            ...(await environmentOf(parts.vault, tenant, variables, folder)),
            // Their values are literal: a user does not refer to secrets of the tenant.
            ...Object.fromEntries(own),
          };
          const command = { file: found.file, args, environment };
          const folders = [...request.folders, folder];
          return { kind: 'ran', outcome: await parts.shell.run({ ...request, folders, command }) };
        });
      } catch (error) {
        if (error instanceof SecretProblem) return refused(error.message);
        throw error;
      }
    },
  };
}

function refused(message: string): SecureOutcome {
  return { kind: 'refused', code: 'ExecutionFailed', message };
}

/** HOME is the call's own, so that no program leaves a credential where others read. */
async function environmentOf(
  vault: Pick<Vault, 'resolve'>,
  tenant: string,
  variables: readonly CliVariable[],
  folder: string,
): Promise<Record<string, string>> {
  const environment: Record<string, string> = { HOME: folder, TMPDIR: folder };
  for (const { name, kind, value } of variables) {
    const resolved = await vault.resolve(tenant, value);
    if (kind === 'file') {
      environment[name] = join(folder, name);
      await writeFile(join(folder, name), resolved, { mode: 0o600, flag: 'wx' });
    } else environment[name] = resolved;
  }
  return environment;
}

/**
 * A folder for one call: home of its program and place of its credential files. It is removed with the call, or with
 * its worker.
 */
async function withPrivateFolder<T>(base: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = makeWorkerFolder(base);
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
