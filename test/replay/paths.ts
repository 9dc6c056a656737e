/** The paths of sessions, subagents, delegations and approvals and their ends, each walked by hand for its history. */
import { tokenOf } from '#test/support/decision-tokens.ts';
import { createLostWork } from '#temporal/lost-work.ts';
import type { ApprovalState, DecideInput } from '#domain/approval/approval.ts';
import { recordingItsEnd } from '#test/support/held-end.ts';
import type { LiveWorker } from '#test/support/live-worker.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';

/** The secret of the decision tokens of the stack that walks them. */
export const SECRET = 'a-secret-of-at-least-thirty-two-characters';

/** Above RUN_LIMITS.messages of workflows/steps/run-limits.ts. */
const FLOOD = 1_001;

/** Walks the path in the session whose key is the path's name, until nothing runs in it. */
export type Path = (live: LiveWorker, session: string) => Promise<void>;

/** Says the script, and waits for its end. */
function saying(script: string, agent = 'main'): Path {
  return async (live, session) => {
    await live.ended((await live.say(session, script, { agent })).turn_id);
  };
}

/** The turn reaches its budget, and people decide whether it gets more. */
function askingForMore(script: string, agent: string, decision: 'approve' | 'reject'): Path {
  return async (live, session) => {
    const { turn_id } = await live.say(session, script, { agent });
    await live.temporal.decide(await live.approvalOf(session), { decision, by: 'ann' });
    await live.ended(turn_id);
  };
}

/** A turn stays in a tool while `meanwhile` happens; then the tool ends, if it still runs. */
function busy(meanwhile: (live: LiveWorker, session: string, turn: string) => Promise<string[]>): Path {
  return async (live, session) => {
    const { turn_id } = await live.say(session, `hold {"note":"${session}"}\nthen\nEnd.`);
    await live.probes.untilHeld(session);
    const others = await meanwhile(live, session, turn_id);
    live.probes.release(session);
    for (const turn of [turn_id, ...others]) await live.ended(turn);
  };
}

/** Sends more messages than a run accepts, all of them the same. */
async function flood(live: LiveWorker, session: string): Promise<void> {
  const handle = live.client.workflow.getHandle(workflowIdOf(live, session));
  for (let sent = 0; sent < FLOOD; sent += 91)
    await Promise.all(
      Array.from({ length: 91 }, () => handle.signal('message', { id: `${session}-f`, text: 'x' })),
    );
}

function decided(decision: Record<string, unknown>, way: 'update' | 'signal' = 'update'): Path {
  return async (live, session) => {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`);
    const approval = await live.approvalOf(session);
    const handle = live.client.workflow.getHandle(`approval/${approval}`);
    if (way === 'signal') await handle.signal('decide', decision);
    else await handle.executeUpdate('decide', { args: [decision] });
    await live.ended(turn_id);
  };
}

const stopping = (level: 'step' | 'now' | 'all', waiting = 0): Path =>
  busy(async (live, session, turn) => {
    const others: string[] = [];
    for (let n = 0; n < waiting; n += 1) others.push((await live.say(session, `Waits ${n}.`)).turn_id);
    await live.temporal.stop(live.tenant, session, { turn_id: turn, level, by: 'ann' });
    return others;
  });

/** Stops all of a turn whose end is being recorded. */
function stoppedTooLate(live: LiveWorker, session: string): Promise<void> {
  return recordingItsEnd(live, session, (turn_id) =>
    live.temporal.stop(live.tenant, session, { turn_id, level: 'all', by: 'ann' }),
  );
}

/** A subagent holds in a tool while `meanwhile` happens to it. */
function subagent(meanwhile: (live: LiveWorker, session: string, id: string) => Promise<void>): Path {
  return async (live, session) => {
    const task = `hold {"note":"${session}"}\nthen\nHeld.`;
    const { turn_id } = await live.say(
      session,
      `spawn ${JSON.stringify({ task, label: session })}\nthen\nOn it.`,
    );
    await live.ended(turn_id);
    await live.probes.untilHeld(session);
    const { rows } = await live.pool.query<{ id: string }>(
      'select id from assignments where tenant_id = $1 and origin_session = $2',
      [live.tenant, session],
    );
    await meanwhile(live, session, rows[0]?.id ?? '');
  };
}

const delegating = (target: string, task: string, more: Record<string, unknown> = {}): Path =>
  saying(
    `delegate ${JSON.stringify({ agent_key: target, task, mode: 'sync', ...more })}\nthen\nDone.`,
    'giver',
  );

/** Delegated work holds in a tool while `meanwhile` happens to it. */
function givenAway(meanwhile: (live: LiveWorker, session: string, id: string) => Promise<unknown>): Path {
  return async (live, session) => {
    const call = { agent_key: 'taker', task: `hold {"note":"${session}"}\nthen\nHeld.` };
    const { turn_id } = await live.say(session, `delegate ${JSON.stringify(call)}\nthen\nGiven.`, {
      agent: 'giver',
    });
    await live.ended(turn_id);
    await live.probes.untilHeld(session);
    const { rows } = await live.pool.query<{ id: string }>(
      'select id from assignments where tenant_id = $1 and origin_session = $2',
      [live.tenant, session],
    );
    await meanwhile(live, session, rows[0]?.id ?? '');
  };
}

/** Its workflow is ended from outside, and the sweep finds it. */
async function loseWork(live: LiveWorker, workflowId: string): Promise<void> {
  await live.client.workflow.getHandle(workflowId).terminate();
  const { pool, temporal: reach } = live;
  await createLostWork({ pool, onWrite: () => undefined, reach, now: Date.now }).sweepAll(0);
}

const evaluating = (generator: string, evaluator: string): string =>
  `evaluate_loop ${JSON.stringify({ generator, evaluator, task: 'Write.', max_rounds: 2 })}\nthen\nDone.`;

/** The generator of a round holds in a tool while `meanwhile` happens to the loop. */
function judging(meanwhile: (live: LiveWorker, id: string) => Promise<unknown>): Path {
  return async (live, session) => {
    const { turn_id } = await live.say(session, evaluating('holds', 'critic'), { agent: 'giver' });
    await live.probes.untilHeld('evaluate');
    const { rows } = await live.pool.query<{ id: string }>(
      'select id from assignments where tenant_id = $1 and origin_session = $2',
      [live.tenant, session],
    );
    await meanwhile(live, rows[0]?.id ?? '');
    await live.ended(turn_id);
  };
}

/** Paths by the name of the history. */
export const PATHS: Readonly<Record<string, Path>> = {
  'turn-answer': saying('Hello.'),
  'turn-tools': saying('peek {"note":"a"}\nnudge {"note":"b"}\nthen\npoke {"note":"c"}\nthen\nDone.', 'free'),
  // These are answers and commands that are over at once, and ones that continue as activities of their own.
  'turn-quick': saying('peek {"note":"a"}\nthen\nexec {"command":"true"}\nthen\nDone.', 'runs'),
  'turn-not-so-quick': saying('exec {"command":"sleep 1"}\nthen\npeek {"note":"a"}\nthen\nDone.', 'runs'),
  'turn-model-goes-on': saying('x', 'pauses'),
  'turn-chain-of-quick-calls': saying('x', 'paced'),
  'turn-parallel': saying('nudge {"note":"a"}\nnudge {"note":"b"}\npeek {"note":"c"}\nthen\nDone.'),
  'turn-tool-fails': saying('break_off {"note":"throw"}\nno_such_tool {}\nthen\nDone.'),
  'turn-outside': saying('outside {"note":"a"}\nthen\nDone.'),
  'turn-outside-stopped': async (live, session) => {
    const { turn_id } = await live.say(session, 'outside {"note":"stays"}');
    await live.until('its timer', () => live.probes.effects.find(({ note }) => note === 'stays'));
    await live.temporal.stop(live.tenant, session, { turn_id, level: 'now', by: 'ann' });
    await live.ended(turn_id);
  },
  'turn-wait-child': saying('wait {"timeMs":300,"reason":"tea"}\nthen\nDone.'),
  'turn-model-fails': saying('x', 'broken'),
  'turn-limit': saying('x', 'circles'),
  'turn-budget': askingForMore('peek {"note":"a"}\nthen\nDone.', 'spare', 'approve'),
  'turn-budget-denied': askingForMore('peek {"note":"a"}\nthen\nDone.', 'spare', 'reject'),
  'turn-steered': busy(async (live, session) => {
    await live.say(session, 'Left.', { mode: 'steer' });
    return [];
  }),
  'turn-queued': busy(async (live, session) => [
    (await live.say(session, 'Second.')).turn_id,
    (await live.say(session, 'Third.')).turn_id,
  ]),
  'turn-collected': busy(async (live, session) => {
    await live.say(session, 'One.', { mode: 'collect', id: `${session}-c` });
    await live.say(session, 'Two.', { mode: 'collect' });
    return [`turn_${session}-c`];
  }),
  'turn-interrupted': busy(async (live, session) => [
    (await live.say(session, 'At once.', { mode: 'interrupt' })).turn_id,
  ]),
  'turn-duplicate': async (live, session) => {
    await live.ended((await live.say(session, 'Once.', { id: `${session}-1` })).turn_id);
    await live.client.workflow.getHandle(workflowIdOf(live, session)).result();
    await live.say(session, 'Once.', { id: `${session}-1` });
    await live.client.workflow.getHandle(workflowIdOf(live, session)).result();
  },
  'turn-lingers': async (live, session) => {
    await live.client.workflow.start('agentTurn', {
      workflowId: workflowIdOf(live, session),
      taskQueue: live.taskQueue,
      args: [{ tenant: live.tenant, session_key: session, linger_seconds: 1 }],
    });
    await live.ended((await live.say(session, 'One.')).turn_id);
    await live.ended((await live.say(session, 'Two.')).turn_id);
  },
  'turn-stop-step': stopping('step'),
  'turn-stop-now': stopping('now'),
  'turn-stop-all': stopping('all', 2),
  'turn-stop-by-update': busy(async (live, session, turn_id) => {
    const handle = live.client.workflow.getHandle(workflowIdOf(live, session));
    await handle.executeUpdate('stop', { args: [{ turn_id, level: 'now', by: 'ann' }] });
    return [];
  }),
  'session-stopped-idle': async (live, session) => {
    const { turn_id } = await live.say(session, 'Hello.');
    await live.client.workflow.getHandle(workflowIdOf(live, session)).result();
    const labels = { agent: 'main', summary: session };
    await live.temporal.stopIdle(live.tenant, session, { turn_id, level: 'all', by: 'ann' }, labels);
  },
  'session-stopped-at-its-end': stoppedTooLate,
  'turn-cancelled': busy(async (live, session) => {
    await live.client.workflow.getHandle(workflowIdOf(live, session)).cancel();
    return [];
  }),
  'turn-stopped-unbegun': async (live, session) => {
    const turn_id = `turn_${session}`;
    const handle = await live.client.workflow.start('agentTurn', {
      workflowId: workflowIdOf(live, session),
      taskQueue: live.taskQueue,
      args: [{ tenant: live.tenant, session_key: session }],
      startDelay: '3 seconds',
    });
    await handle.signal('message', { id: `msg_${session}`, text: 'x' });
    await handle.signal('stop', { turn_id, level: 'all', by: 'ann' });
    await live.ended(turn_id);
  },
  'turn-stopped-at-approval': async (live, session) => {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`);
    await live.approvalOf(session);
    await live.temporal.stop(live.tenant, session, { turn_id, level: 'now' });
    await live.ended(turn_id);
  },
  'turn-by-signal': async (live, session) => {
    await live.client.workflow.signalWithStart('agentTurn', {
      workflowId: workflowIdOf(live, session),
      taskQueue: live.taskQueue,
      args: [{ tenant: live.tenant, session_key: session }],
      signal: 'message',
      signalArgs: [{ id: `${session}-1`, text: 'By signal.' }],
    });
    await live.ended(`turn_${session}-1`);
  },
  'turn-goes-on-in-new-run': busy(async (live, session) => {
    await flood(live, session);
    const dropped = await live.say(session, 'Dropped.');
    await live.temporal.stop(live.tenant, session, { turn_id: dropped.turn_id, level: 'now' });
    await live.say(session, 'Right.', { mode: 'steer' });
    return [`turn_${session}-f`, dropped.turn_id];
  }),
  'turn-gates-revised': saying('Write.', 'turn-revised'),
  'turn-gates-blocked': saying('Write.', 'turn-blocked'),
  'turn-gates-ask-for-budget': askingForMore('Write.', 'turn-asks', 'approve'),
  // The revision continues in a new run, which knows what has been judged.
  'turn-gates-in-new-run': async (live, session) => {
    const { turn_id } = await live.say(session, 'Write.', { agent: 'turn-floods' });
    await live.probes.untilHeld('floods');
    await flood(live, session);
    live.probes.release('floods');
    for (const turn of [turn_id, `turn_${session}-f`]) await live.ended(turn);
  },
  'subagent-async': subagent(async (live, session) => live.probes.release(session)),
  'subagent-sync': saying('spawn {"action":"run","task":"Counted: 4."}\nthen\nDone.'),
  'subagent-asked': subagent(async (live, session, id) => {
    const { turn_id } = await live.say(`subagent:${id}`, 'Hello.');
    live.probes.release(session);
    await live.ended(turn_id);
  }),
  'subagent-session-lost': subagent((live, _session, id) =>
    loseWork(live, workflowIdOf(live, `subagent:${id}`)),
  ),
  'subagent-fails': saying('spawn {"action":"run","task":"x","model":"rehearsal/broken"}\nthen\nDone.'),
  'subagent-timeout': saying(
    'spawn {"action":"run","task":"wait {\\"timeMs\\":60000}","timeout":1}\nthen\nDone.',
  ),
  'subagent-waited-for': saying(
    'spawn {"task":"wait {\\"timeMs\\":400}\\nthen\\nSlow."}\nthen\nspawn {"action":"wait"}\nthen\nDone.',
  ),
  'subagent-wait-timeout': async (live, session) => {
    const task = `hold {"note":"${session}"}\nthen\nHeld.`;
    const script = `spawn ${JSON.stringify({ task })}\nthen\nspawn {"action":"wait","timeout":1}\nthen\nDone.`;
    await live.ended((await live.say(session, script)).turn_id);
    live.probes.release(session);
  },
  'subagent-of-subagent': saying(
    'spawn {"action":"run","task":"spawn {\\"task\\":\\"nudge {\\\\\\"note\\\\\\":\\\\\\"below\\\\\\"}\\"}\\nthen\\nOn it."}\nthen\nDone.',
  ),
  'subagent-stopped': subagent(async (live, _session, id) => {
    await live.temporal.signal(`subagent/${id}`, 'stop', { by: 'ann', reason: 'enough' });
  }),
  'subagent-steered': subagent(async (live, _session, id) => {
    await live.temporal.update(`subagent/${id}`, 'steer', { message: 'Turned.', by: 'ann' }, 'steer-1');
  }),
  'subagent-cancelled': subagent(async (live, _session, id) => {
    await live.client.workflow.getHandle(`subagent/${id}`).cancel();
  }),
  'turn-lost': busy(async (live, session) => {
    await loseWork(live, workflowIdOf(live, session));
    return [];
  }),
  'subagent-lost': subagent((live, _session, id) => loseWork(live, `subagent/${id}`)),
  'delegation-lost': givenAway((live, _session, id) => loseWork(live, `delegation/${id}`)),
  'delegation-async': givenAway(async (live, session) => live.probes.release(session)),
  'delegation-sync': delegating('taker', 'Written.'),
  'delegation-fails': delegating('broken', 'x'),
  'delegation-timeout': delegating('taker', 'wait {"timeMs":60000}', { timeout: 1 }),
  'delegation-stopped': givenAway((live, _session, id) =>
    live.temporal.signal(`delegation/${id}`, 'stop', { by: 'ann', reason: 'enough' }),
  ),
  'delegation-cancelled': givenAway((live, _session, id) =>
    live.client.workflow.getHandle(`delegation/${id}`).cancel(),
  ),
  'delegation-of-delegation': delegating(
    'middle',
    `delegate {"agent_key":"taker","task":"nudge {\\"note\\":\\"below\\"}"}\nthen\nGiven on.`,
  ),
  'delegation-revised': delegating('revised', 'Write.'),
  'delegation-warned': delegating('warned', 'Write.'),
  'delegation-blocked': delegating('blocked', 'Write.'),
  'evaluate-approved': saying(evaluating('drafts', 'critic'), 'giver'),
  'evaluate-spent': saying(evaluating('drafts', 'never'), 'giver'),
  'evaluate-fails': saying(evaluating('drafts', 'broken'), 'giver'),
  'evaluate-stopped': judging((live, id) => live.temporal.signal(`evaluate/${id}`, 'stop', { by: 'ann' })),
  'evaluate-lost': judging((live, id) => loseWork(live, `evaluate/${id}`)),
  'approval-approve': decided({ decision: 'approve', by: 'ann' }),
  'approval-reject': decided({ decision: 'reject', by: 'ann', reason: 'no' }),
  'approval-edit': decided({ decision: 'edit', by: 'ann', args: { note: 'edited' } }),
  'approval-respond': decided({ decision: 'respond', by: 'ann', text: 'Tuesday.' }),
  'approval-by-signal': decided({ decision: 'approve', by: 'sys' }, 'signal'),
  'approval-refused-then-approved': async (live, session) => {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`);
    const approval = await live.approvalOf(session);
    await live.temporal.decide(approval, { decision: 'edit', args: { nota: 1 } }).catch(() => undefined);
    await live.temporal.decide(approval, { decision: 'approve' });
    await live.ended(turn_id);
  },
  'approval-expires': saying('poke {"note":"expires"}', 'brief'),
  'approval-quorum': async (live, session) => {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`, { agent: 'two' });
    const id = await live.approvalOf(session);
    const as = async (by: string, decision: DecideInput['decision'] = 'approve') => ({
      decision,
      by,
      token: await tokenOf(live, SECRET, id, decision, by),
    });
    await live.temporal.decide(id, { decision: 'approve', by: 'ann' }).catch(() => undefined);
    await live.temporal.decide(id, await as('ann'));
    await live.temporal.decide(id, { args: { note: 'edited' }, ...(await as('bea', 'edit')) });
    await live.client.workflow.getHandle(`approval/${id}`).signal('decide', await as('ann'));
    await live.ended(turn_id);
  },
  'approval-escalates': async (live, session) => {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`, { agent: 'rises' });
    const id = await live.approvalOf(session);
    const handle = live.client.workflow.getHandle(`approval/${id}`);
    await live.until('the escalation', async () => (await handle.query<ApprovalState>('state')).escalated);
    const token = await tokenOf(live, SECRET, id, 'approve', 'boss');
    await live.temporal.decide(id, { decision: 'approve', by: 'boss', token });
    await live.ended(turn_id);
  },
  'approval-escalated-by-signal': async (live, session) => {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`);
    const id = await live.approvalOf(session);
    const handle = live.client.workflow.getHandle(`approval/${id}`);
    await handle.signal('escalate');
    await live.temporal.decide(id, { decision: 'reject', by: 'ann' });
    await live.ended(turn_id);
  },
  'approval-reminds-and-expires': saying('poke {"note":"reminds"}', 'reminds'),
  'approval-withdrawn': async (live, session) => {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`);
    const approval = await live.approvalOf(session);
    await live.client.workflow.getHandle(`approval/${approval}`).signal('withdraw');
    await live.ended(turn_id);
  },
};
