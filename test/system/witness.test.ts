/** The witness of the fault tests detects what it exists for: it reports forged rows and effects as what they break. */
import { join } from 'node:path';
import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { createStand, type Stand, type Tenant } from '#test/support/faults.ts';
import { type Accepted, checkInvariants, untilAllEnded } from '#test/support/witness.ts';

describe('the witness', { timeout: 300_000 }, () => {
  let stand: Stand;
  const accepted: Accepted[] = [];
  before(async () => {
    stand = await createStand({
      workers: 1,
      agents: [
        {
          key: 'asks-shortly',
          type: 'open',
          model: 'rehearsal/follow',
          exec: { security: 'full', ask: 'off' },
          tools: { ask: [{ tool: 'exec', expires_seconds: 1 }] },
        },
      ],
    });
  });
  after(() => stand?.close());

  /** A turn of its own for each forgery, honest so far. */
  async function honest(name: string, agent = 'main'): Promise<Accepted> {
    const [tenant] = stand.tenants;
    const token = `${tenant.id}-${name}`;
    const command = `echo ${token} >> ${stand.witnessFile}`;
    const text = `exec ${JSON.stringify({ command })}`;
    const turn = await stand.say(tenant, token, token, { text, agent });
    const message = { tenant, session: token, turn, token };
    accepted.push(message);
    await untilAllEnded(stand, [message]);
    await checkInvariants(stand, [message]);
    return message;
  }

  const finds = (message: Accepted, what: RegExp) =>
    assert.rejects(checkInvariants(stand, [message]), (error: Error) => what.test(error.message));
  const forge = async ({ tenant, turn }: Accepted, statement: string): Promise<void> => {
    const { rowCount } = await stand.pool.query(statement, [tenant.id, turn]);
    assert.ok(rowCount, 'the forgery has changed something');
  };

  it('I1 a turn that ended twice', async () => {
    const message = await honest('twice');
    await forge(
      message,
      `with s as (update sessions set event_seq = event_seq + 1 where tenant_id = $1
         and key = (select session_key from turns where tenant_id = $1 and id = $2) returning key, event_seq)
       insert into events (tenant_id, session_key, id, turn_id, type, data)
       select $1, key, event_seq, $2, 'turn.completed', '{}' from s`,
    );
    await finds(message, /I1.*ended 2 times/);
  });

  it('I1 a call that never ended', async () => {
    const message = await honest('open');
    await forge(message, `update tool_calls set state = 'running' where tenant_id = $1 and turn_id = $2`);
    await finds(message, /I1.*running/);
  });

  it('I2 a message that was lost, and a turn that was', async () => {
    const message = await honest('lost-message');
    await forge(message, `delete from messages where tenant_id = $1 and turn_id = $2 and role = 'user'`);
    await finds(message, /I2.*0 times/);
    const { turn } = message;
    await finds({ ...message, turn: `${turn}-never` }, /I2.*not there/);
  });

  it('I3 an effect that happened twice, and one that no call stands for', async () => {
    const message = await honest('effect');
    await appendFile(join(stand.folder, 'workspaces', stand.witnessFile), `${message.token}\n`);
    await finds(message, /I3.*2 times/);
    const other = await honest('uncalled');
    await forge(other, `delete from tool_calls where tenant_id = $1 and turn_id = $2`);
    await finds(other, /I3.*without a call/);
  });

  it('I3 a call that says done and did not', async () => {
    const message = await honest('not-done', 'asks-shortly');
    await forge(
      message,
      `update tool_calls set ok = true, code = null where tenant_id = $1 and turn_id = $2`,
    );
    await finds(message, /I3.*did not happen/);
  });

  it('I4 a command that ran though its approval had expired', async () => {
    const message = await honest('unapproved', 'asks-shortly');
    await forge(
      message,
      `update tool_calls set ok = true, code = null where tenant_id = $1 and turn_id = $2`,
    );
    await appendFile(join(stand.folder, 'workspaces', stand.witnessFile), `${message.token}\n`);
    await finds(message, /I4/);
  });

  it('I6 a row of one tenant that holds what the other said', async () => {
    const message = await honest('leaked');
    const other: Tenant = stand.tenants[1];
    await stand.pool.query(`insert into sessions (tenant_id, key, agent_key) values ($1, 'leak', 'main')`, [
      other.id,
    ]);
    await stand.pool.query(
      `insert into messages (tenant_id, id, session_key, role, text) values ($1, 'leak', 'leak', 'user', $2)`,
      [other.id, `I heard ${message.token}`],
    );
    await finds(message, /I6/);
  });

  it('a feed with a gap', async () => {
    const message = await honest('gap');
    await forge(
      message,
      `delete from events where tenant_id = $1 and turn_id = $2 and type = 'tool.started'`,
    );
    await finds(message, /gap/);
  });
});
