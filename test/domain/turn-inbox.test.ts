import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { INBOX_LIMITS, SUBMIT_MODES, type SubmitMode } from '#domain/turn/turn.ts';
import { submitProblem } from '#domain/turn/submit-problem.ts';
import { createTurnInbox } from '#domain/turn/turn-inbox.ts';

function running(): ReturnType<typeof createTurnInbox> {
  const inbox = createTurnInbox(undefined);
  inbox.submit({ id: 'msg_first' });
  inbox.startTurn();
  return inbox;
}

describe('DU-4 messages that arrive while a turn runs', () => {
  test('the first message starts a turn named after it', () => {
    const inbox = createTurnInbox(undefined);
    assert.deepEqual(inbox.submit({ id: 'msg_a' }), {
      turn_id: 'turn_a',
      message_id: 'msg_a',
      mode: 'queue',
      ahead: 0,
    });
    assert.equal(inbox.startTurn().turnId, 'turn_a');
  });

  test('queued messages wait in order and know how many turns are ahead', () => {
    const inbox = running();
    assert.equal(inbox.submit({ id: 'msg_b' }).ahead, 1);
    assert.equal(inbox.submit({ id: 'msg_c' }).ahead, 2);
    inbox.endTurn();
    assert.equal(inbox.startTurn().turnId, 'turn_b');
  });

  test('a steering message is promised the step that will read it, and that step gets it', () => {
    const inbox = running();
    inbox.reachStep(1);
    assert.deepEqual(inbox.takeSteering(), []);
    const receipt = inbox.submit({ id: 'msg_s', mode: 'steer' });
    assert.equal(receipt.turn_id, 'turn_first');
    assert.equal(receipt.step, 2);
    inbox.reachStep(2);
    assert.deepEqual(inbox.takeSteering(), [{ id: 'msg_s' }]);
  });

  test('an interrupting message stops the turn now and goes first', () => {
    const inbox = running();
    inbox.submit({ id: 'msg_b' });
    const receipt = inbox.submit({ id: 'msg_i', mode: 'interrupt' });
    assert.equal(receipt.ahead, 0);
    assert.equal(inbox.pendingStop()?.level, 'now');
    inbox.endTurn();
    assert.deepEqual(
      inbox.waiting().map((turn) => turn.turnId),
      ['turn_i', 'turn_b'],
    );
  });

  test('collected messages become one turn', () => {
    const inbox = running();
    const first = inbox.submit({ id: 'msg_c1', mode: 'collect' });
    const second = inbox.submit({ id: 'msg_c2', mode: 'collect' });
    assert.equal(second.turn_id, first.turn_id);
    inbox.endTurn();
    assert.deepEqual(inbox.startTurn().messages, [{ id: 'msg_c1' }, { id: 'msg_c2' }]);
  });

  test('IN-10 a turn takes messages of one person alone: of another, they wait as turns of their own', () => {
    const inbox = createTurnInbox(undefined);
    inbox.submit({ id: 'msg_first', user: 'ann' });
    inbox.startTurn();
    for (const user of ['bob', undefined]) {
      const receipt = inbox.submit({ id: `msg_s-${user}`, user, mode: 'steer' });
      assert.deepEqual([receipt.turn_id, receipt.step], [`turn_s-${user}`, undefined]);
    }
    assert.equal(inbox.steer({ id: 'msg_late', user: 'bob', turn_id: 'turn_first' }).ahead, 3);
    assert.equal(inbox.submit({ id: 'msg_own', user: 'ann', mode: 'steer' }).step, 1);
    const turns = ['ann', 'bob', 'bob', 'ann'].map(
      (user, at) => inbox.submit({ id: `msg_c${at}`, user, mode: 'collect' }).turn_id,
    );
    assert.deepEqual(turns, ['turn_c0', 'turn_c1', 'turn_c1', 'turn_c3']);
    // The next run knows it too.
    inbox.endTurn();
    const next = createTurnInbox(inbox.carry());
    assert.deepEqual(next.startTurn().messages, [{ id: 'msg_own', user: 'ann' }]);
    assert.equal(next.submit({ id: 'msg_more', user: 'bob', mode: 'steer' }).step, undefined);
  });

  test('a rejecting message is refused while the session is busy and taken when it is not', () => {
    assert.equal(running().refusal({ id: 'msg_r', mode: 'reject' })?.type, 'SessionBusy');
    assert.equal(createTurnInbox(undefined).refusal({ id: 'msg_r', mode: 'reject' }), undefined);
  });

  test('the same id gives the same turn again, also in the next run', () => {
    const inbox = running();
    const first = inbox.submit({ id: 'msg_b' });
    assert.equal(inbox.submit({ id: 'msg_b' }).duplicate, true);
    inbox.endTurn();
    const next = createTurnInbox(inbox.carry());
    next.startTurn();
    const again = next.submit({ id: 'msg_b' });
    assert.equal(again.turn_id, first.turn_id);
    assert.equal(again.duplicate, true);
    assert.equal(next.hasTurn(), false);
  });

  test('steering that comes too late opens the next turn and is not lost', () => {
    const inbox = running();
    inbox.submit({ id: 'msg_q' });
    inbox.submit({ id: 'msg_s', mode: 'steer' });
    inbox.endTurn();
    assert.deepEqual(
      inbox.waiting().map((turn) => turn.turnId),
      ['turn_s', 'turn_q'],
    );
  });

  test('a steer update for another turn than the running one is refused', () => {
    const inbox = running();
    assert.equal(inbox.refusal({ id: 'msg_s', turn_id: 'turn_other' }, true)?.type, 'StaleTurn');
    assert.equal(inbox.refusal({ id: 'msg_s', turn_id: 'turn_first' }, true), undefined);
    assert.equal(createTurnInbox(undefined).refusal({ id: 'msg_s' }, true)?.type, 'StaleTurn');
  });

  test('bounds: too many waiting turns and too much waiting text are refused, nothing else is lost', () => {
    const inbox = running();
    for (let index = 0; index < INBOX_LIMITS.turns; index += 1) inbox.submit({ id: `msg_${index}` });
    assert.equal(inbox.refusal({ id: 'msg_more' })?.type, 'QueueFull');
    const wordy = running();
    for (let index = 0; index < 4; index += 1)
      wordy.submit({ id: `msg_${index}`, text: 'x'.repeat(INBOX_LIMITS.textBytes) });
    assert.equal(wordy.refusal({ id: 'msg_more', text: 'y' })?.type, 'QueueFull');
    assert.equal(wordy.refusal({ id: 'msg_row' }), undefined);
  });

  test('every accepted message is in exactly one turn, whatever the order of events (property)', () => {
    const event = fc.oneof(
      fc.record({
        kind: fc.constant('submit' as const),
        mode: fc.constantFrom(...SUBMIT_MODES),
        id: fc.nat(12),
      }),
      fc.record({ kind: fc.constantFrom('end' as const, 'step' as const, 'carry' as const) }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let inbox = createTurnInbox(undefined);
        let current: string | undefined;
        const accepted = new Set<string>();
        const taken: string[] = [];
        const begin = (): void => {
          if (current || !inbox.hasTurn()) return;
          const turn = inbox.startTurn();
          current = turn.turnId;
          taken.push(...turn.messages.map((message) => message.id));
        };
        const end = (): void => {
          inbox.endTurn();
          current = undefined;
        };
        for (const next of events) {
          if (next.kind === 'submit') {
            const message: { id: string; mode: SubmitMode } = { id: `msg_${next.id}`, mode: next.mode };
            if (inbox.refusal(message) === undefined) {
              inbox.submit(message);
              accepted.add(message.id);
            }
          } else if (next.kind === 'end') end();
          else if (next.kind === 'step' && current)
            taken.push(...inbox.takeSteering().map((message) => message.id));
          else if (next.kind === 'carry' && !current)
            inbox = createTurnInbox(JSON.parse(JSON.stringify(inbox.carry())));
          begin();
        }
        for (let rest = 0; rest < 100; rest += 1) {
          end();
          begin();
        }
        assert.deepEqual([...taken].sort(), [...accepted].sort());
      }),
      { numRuns: 500 },
    );
  });
});

describe('DU-4 what one run hands to the next', () => {
  /** What Temporal takes in one payload. */
  const PAYLOAD = 2 * 1024 * 1024;

  /** Submits until one is refused; returns how many were accepted. */
  function fill(inbox: ReturnType<typeof running>, fields: object, isDropped: boolean): number {
    for (let accepted = 0; ; accepted += 1) {
      const message = { ...fields, id: `${accepted}-${'i'.repeat(120)}` };
      assert.equal(submitProblem(message), undefined);
      if (inbox.refusal(message) !== undefined) return accepted;
      const { turn_id } = inbox.submit(message);
      if (isDropped) inbox.stop({ level: 'now', turn_id });
    }
  }

  test('stays below what Temporal takes, whatever the accepted messages carry', () => {
    const words = '🦦'.repeat(255);
    const heavy = { agent: words, user: words, channel: words, chat_id: words, preview: words };
    const tools = { allowed_tools: Array.from({ length: 200 }, () => 'ä'.repeat(128)) };
    for (const [what, fields] of [
      ['texts', { text: '€'.repeat(20_000) }],
      ['words', { text: 'x', ...heavy }],
      ['tools', { text: 'x', ...tools }],
      ['messages of rows', { preview: words, ...tools }],
    ] as const)
      for (const isDropped of [false, true]) {
        const inbox = running();
        const accepted = fill(inbox, fields, isDropped);
        assert.ok(accepted > 0 && accepted <= INBOX_LIMITS.turns, `${what}: ${accepted}`);
        const bytes = Buffer.byteLength(JSON.stringify(inbox.carry()));
        assert.ok(bytes < PAYLOAD, `${what}${isDropped ? ', dropped' : ''}: ${bytes} bytes`);
      }
  });
});

describe('DU-4 stop', () => {
  test('a stop that names another turn hits nothing', () => {
    const inbox = running();
    assert.equal(inbox.stop({ level: 'now', turn_id: 'turn_before' }), false);
    assert.equal(inbox.pendingStop(), undefined);
  });

  test('a stop of a waiting turn takes it out; the running one goes on', () => {
    const inbox = running();
    inbox.submit({ id: 'msg_b' });
    assert.equal(inbox.stop({ level: 'now', turn_id: 'turn_b' }), true);
    assert.equal(inbox.pendingStop(), undefined);
    assert.deepEqual(
      inbox.takeDropped().map((turn) => turn.turnId),
      ['turn_b'],
    );
    assert.equal(inbox.hasTurn(), false);
  });

  test('stop all ends the turn and drops what waits', () => {
    const inbox = running();
    inbox.submit({ id: 'msg_b' });
    inbox.stop({ level: 'all', turn_id: 'turn_first' });
    assert.equal(inbox.pendingStop()?.level, 'all');
    assert.equal(inbox.takeDropped().length, 1);
  });

  test('whether a stop may change something is known before', () => {
    const inbox = running();
    inbox.submit({ id: 'msg_b' });
    for (const turn of ['turn_first', 'turn_b']) assert.equal(inbox.mayStop(turn), true);
    for (const other of ['turn_c', undefined, 7]) assert.equal(inbox.mayStop(other), false);
    assert.equal(createTurnInbox(undefined).mayStop('turn_c'), true);
  });

  test('a stronger stop replaces a weaker one, never the other way round', () => {
    const inbox = running();
    inbox.stop({ level: 'step', turn_id: 'turn_first' });
    inbox.stop({ level: 'now', turn_id: 'turn_first' });
    inbox.stop({ level: 'step', turn_id: 'turn_first' });
    assert.equal(inbox.pendingStop()?.level, 'now');
  });
});

describe('DU-4 payloads from other systems', () => {
  for (const [what, payload] of [
    ['no object', 'hello'],
    ['no id', { text: 'hi' }],
    ['an id with a slash', { id: 'a/b', text: 'hi' }],
    ['an unknown mode', { id: 'a', mode: 'now' }],
    ['empty text', { id: 'a', text: ' ' }],
    ['too much text', { id: 'a', text: 'x'.repeat(INBOX_LIMITS.textBytes + 1) }],
    ['a NUL', { id: 'a', text: 'a\0b' }],
    ['tools that are no list', { id: 'a', allowed_tools: 'all' }],
  ] as const) {
    test(`a message with ${what} is refused with what to do`, () => {
      assert.match(submitProblem(payload) ?? '', /must|may|object/);
    });
  }
});

describe('DU-4 turns that were stopped before they began', () => {
  test('are carried to the next run until they are recorded', () => {
    const inbox = running();
    inbox.submit({ id: 'msg_b' });
    inbox.stop({ level: 'now', turn_id: 'turn_b' });
    const next = createTurnInbox(
      inbox.carry({ turn: { turnId: 'turn_first', messages: [] }, step: 2, steering: [], settle: [] }),
    );
    assert.deepEqual(
      next.takeDropped().map((turn) => turn.turnId),
      ['turn_b'],
    );
    assert.deepEqual(next.takeDropped(), []);
  });

  test('an interrupt does not wait for the step that a weaker stop allows', () => {
    const inbox = running();
    inbox.stop({ level: 'step', turn_id: 'turn_first' });
    inbox.submit({ id: 'msg_i', mode: 'interrupt' });
    assert.equal(inbox.pendingStop()?.level, 'now');
  });
});
