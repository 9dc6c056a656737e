/** Serves what users give for programs that run with each user's own credentials; values only come in. */
import type { Api, ApiDeps } from '#api/deps.ts';
import { type Caller, requireOwnUser } from '#api/server/auth.ts';
import { serveResource } from '#api/serve-resource.ts';
import { Failure, fieldFailure } from '#domain/errors.ts';
import { waitingLogins } from '#store/approvals/approval-logins.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { endLogins } from '#temporal/end-logins.ts';
import { secureCliCredentials } from './resource.ts';
import { findSecureCli } from './store.ts';
import {
  deleteUserCredentials,
  findUserCredentials,
  putUserCredentials,
  userCredentialsPlace,
  type UserVariables,
} from './user-credentials.ts';

export function addRoutes(app: Api, { pool, secrets: { sealer }, temporal }: ApiDeps): void {
  const show = async (db: TenantDb, name: string, user: string) => {
    const row = await findUserCredentials(db, name, user);
    if (!row) return undefined;
    const values = JSON.parse(sealer.open(row.sealed, userCredentialsPlace(db.tenant, name, user)));
    return { name, user, env_names: Object.keys(values as UserVariables), given_at: row.given_at };
  };

  serveResource(
    app,
    secureCliCredentials,
    {
      getSecureCliUserCredentials: ({ caller, db, params: { name }, query }) =>
        show(db, name, userOf(caller, query.user)),
      async setSecureCliUserCredentials({ caller, tenant, db, params: { name }, query, body: { env } }) {
        const user = userOf(caller, query.user);
        const { user_env: names = [] } = (await findSecureCli(db, name))?.config ?? {};
        if (names.length === 0)
          throw new Failure('Conflict', `${name} has one set of credentials for all: its env`);
        const missing = names.find((one) => !Object.hasOwn(env, one));
        const other = Object.keys(env).find((one) => !names.includes(one));
        if (missing !== undefined || other !== undefined)
          throw fieldFailure('Unprocessable', 'body/env', `${name} takes just ${names.join(', ')}`);
        const sealed = sealer.seal(JSON.stringify(env), userCredentialsPlace(tenant, name, user));
        if (!(await putUserCredentials(db, { name, user, sealed, keyId: sealer.keyId })))
          throw new Failure('Conflict', `Nothing was kept: ${name} is gone, or too many users have theirs`);
        const waiting = await waitingLogins(db, { login: 'program', server: name, user });
        // They are kept whatever happens now, and the sweep decides what could not be reached.
        await endLogins({ pool, reach: temporal }, waiting).catch(() => undefined);
        return show(db, name, user);
      },
      deleteSecureCliUserCredentials: ({ caller, db, params: { name }, query }) =>
        deleteUserCredentials(db, name, userOf(caller, query.user)),
    },
    ({ tenant }, name) => findSecureCli(forTenant(pool, tenant), name),
  );
}

/** Whose credentials the caller may change. @throws Failure Forbidden, Unprocessable */
function userOf(caller: Caller, named: string | undefined): string {
  const user = named ?? caller.user;
  if (user === null) throw fieldFailure('Unprocessable', 'query/user', 'say whose; the key has no user');
  requireOwnUser(caller, user, 'credentials');
  return user;
}
