/** IN-10: what happens to a login while its token is being refreshed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertTenant } from '#store/api-key-store.ts';
import { eventually } from '#test/support/processes.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { beginLogin, finishLogin, type LoggedIn, type LoginIssuer } from '../login.ts';
import { createRefresher, type Refresher } from '../refresh.ts';
import { refreshPlace } from '../store.ts';
import { API, oidcSettings, openLoginPages, startTestProvider, type TestProvider } from './test-provider.ts';

const REDIRECT = 'http://127.0.0.1:9/console/oidc/work/callback';

describe('IN-10 a refresh of a login', () => {
  let provider: TestProvider;
  let api: TestApi;
  let issuer: LoginIssuer;
  let refresher: Refresher;
  /** Happens after the token was taken, and before its provider is asked. */
  let meanwhile: () => Promise<unknown> = async () => undefined;
  const errors: unknown[] = [];
  before(async () => {
    provider = await startTestProvider();
    await provider.allow(REDIRECT);
    // Without the console, nothing else refreshes.
    api = await startApi({
      oidc: oidcSettings({
        name: 'work',
        issuer: provider.issuer,
        audience: [API],
        client: { id: 'console', secret: provider.secret },
        rules: [{ tenantClaim: 'org', scopes: ['read'] }],
      }),
    });
    await insertTenant(api.pool, 'acme', 'Acme');
    for (const name of ['ann', 'bea']) provider.persons.set(name, { org: 'acme' });
    issuer = api.deps.oidcLogins?.[0] ?? assert.fail();
    refresher = createRefresher({
      pool: api.pool,
      sealer: api.deps.secrets.sealer,
      issuers: [issuer],
      isOpen: () => meanwhile().then(() => true),
      onError: (_row, error) => errors.push(error),
    });
  });
  after(async () => {
    await api.stop();
    await provider.stop();
  });

  /** A person who has logged in, and whose token is due. */
  async function loggedIn(name: string): Promise<LoggedIn> {
    const { sealer } = api.deps.secrets;
    const { location, kept } = await beginLogin(issuer, sealer, REDIRECT);
    const back = new URL(await openLoginPages().logIn(location, name));
    const answer = Object.fromEntries(back.searchParams);
    const person = await finishLogin(issuer, { sealer, pool: api.pool }, answer, kept);
    await refresher.keep(issuer, person);
    await api.pool.query('update oidc_refreshes set due_at = now() where person_id = $1', [person.key.id]);
    return person;
  }

  async function tokenOf({ key }: LoggedIn): Promise<string | undefined> {
    const { rows } = await api.pool.query('select sealed from oidc_refreshes where person_id = $1', [key.id]);
    return rows[0] && api.deps.secrets.sealer.open(rows[0].sealed, refreshPlace('acme', key.id));
  }

  it('leaves the token of a newer login as it is', async () => {
    const person = await loggedIn('ann');
    await refresher.refreshDue();
    const { rows } = await api.pool.query(
      'select due_at > now() and held_until is null as kept from oidc_refreshes',
    );
    assert.deepEqual(rows, [{ kept: true }]);

    await api.pool.query('update oidc_refreshes set due_at = now()');
    meanwhile = () => refresher.keep(issuer, { ...person, refreshToken: 'of-a-newer-login' });
    await refresher.refreshDue();
    assert.equal(await tokenOf(person), 'of-a-newer-login');
    assert.deepEqual(errors, []);
  });

  it('brings nobody back who is forgotten meanwhile', async () => {
    const person = await loggedIn('bea');
    const client = await api.pool.connect();
    try {
      meanwhile = async () => {
        await client.query('begin');
        await client.query('delete from api_keys where id = $1', [person.key.id]);
      };
      const refreshing = refresher.refreshDue();
      const waiting =
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      assert.ok(await eventually(async () => (await api.pool.query(waiting)).rowCount !== 0));
      await client.query('commit');
      await refreshing;
    } finally {
      client.release();
    }
    const { rowCount } = await api.pool.query('select from api_keys where id = $1', [person.key.id]);
    assert.equal(rowCount, 0);
    assert.equal(await tokenOf(person), undefined);
    assert.match(String(errors), /its person has no key any more/);
  });
});
