/**
 * Records a history of each path of the workflows, by hand: `node test/replay/record.ts [WORD]`, all paths or those
 * that have the word in their names. What is kept already stays as it is,
 * so after a change of a workflow only new paths are added; old ones show that running turns survive the change.
 */
import { decisionToken } from '#activities/decision-token.ts';
import { createLostWork } from '#activities/lost-work.ts';
import type { ApprovalState } from '#domain/approval.ts';
import type { QualityGate } from '#domain/gate.ts';
import { recordingItsEnd } from '#test/support/held-end.ts';
import type { LiveWorker } from '#test/support/live-worker.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';
import { fetchChain, fetchHistory, HISTORIES_FOLDER, keepHistory } from '#test/support/histories.ts';
import { globalSetup, globalTeardown } from '#test/support/services.ts';
import { startStack } from '#test/support/stack.ts';
import { TASK_PATHS, walkTaskPath } from './task-paths.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

/** Above RUN_LIMITS.messages of workflows/agent-turn.ts. */
const FLOOD = 1_001;

type Path = (live: LiveWorker, session: string) => Promise<void>;

/** Says the script, waits for its end. */
function saying(script: string, agent = 'main'): Path {
  return async (live, session) => {
    await live.ended((await live.say(session, script, { agent })).turn_id);
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

/** More messages than a run takes, all of them the same. */
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

/** A stop of all for a turn whose end is being recorded. */
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
      'select id from subagents where tenant_id = $1 and parent_session = $2',
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

/** Work that was given away holds in a tool while `meanwhile` happens to it. */
function givenAway(meanwhile: (live: LiveWorker, session: string, id: string) => Promise<unknown>): Path {
  return async (live, session) => {
    const call = { agent_key: 'taker', task: `hold {"note":"${session}"}\nthen\nHeld.` };
    const { turn_id } = await live.say(session, `delegate ${JSON.stringify(call)}\nthen\nGiven.`, {
      agent: 'giver',
    });
    await live.ended(turn_id);
    await live.probes.untilHeld(session);
    const { rows } = await live.pool.query<{ id: string }>(
      'select id from delegations where tenant_id = $1 and origin_session = $2',
      [live.tenant, session],
    );
    await meanwhile(live, session, rows[0]?.id ?? '');
  };
}

/** Its workflow is ended from outside, and found by the sweep. */
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
      'select id from evaluations where tenant_id = $1 and origin_session = $2',
      [live.tenant, session],
    );
    await meanwhile(live, rows[0]?.id ?? '');
    await live.ended(turn_id);
  };
}

const PATHS: Readonly<Record<string, Path>> = {
  'turn-answer': saying('Hello.'),
  'turn-tools': saying('peek {"note":"a"}\nnudge {"note":"b"}\nthen\npoke {"note":"c"}\nthen\nDone.', 'free'),
  // Answers and commands that are over at once, and ones that go on as activities of their own.
  'turn-quick': saying('peek {"note":"a"}\nthen\nexec {"command":"true"}\nthen\nDone.', 'runs'),
  'turn-not-so-quick': saying('exec {"command":"sleep 1"}\nthen\npeek {"note":"a"}\nthen\nDone.', 'runs'),
  'turn-model-goes-on': saying('x', 'pauses'),
  'turn-parallel': saying('nudge {"note":"a"}\nnudge {"note":"b"}\npeek {"note":"c"}\nthen\nDone.'),
  'turn-tool-fails': saying('break_off {"note":"throw"}\nno_such_tool {}\nthen\nDone.'),
  'turn-wait-child': saying('wait {"timeMs":300,"reason":"tea"}\nthen\nDone.'),
  'turn-model-fails': saying('x', 'broken'),
  'turn-limit': saying('x', 'circles'),
  'turn-budget': async (live, session) => {
    const { turn_id } = await live.say(session, 'peek {"note":"a"}\nthen\nDone.', { agent: 'spare' });
    await live.temporal.decide(await live.approvalOf(session), { decision: 'approve', by: 'ann' });
    await live.ended(turn_id);
  },
  'turn-budget-denied': async (live, session) => {
    const { turn_id } = await live.say(session, 'peek {"note":"a"}\nthen\nDone.', { agent: 'spare' });
    await live.temporal.decide(await live.approvalOf(session), { decision: 'reject', by: 'ann' });
    await live.ended(turn_id);
  },
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
  'turn-stop-step': stopping('step'),
  'turn-stop-now': stopping('now'),
  'turn-stop-all': stopping('all', 2),
  'session-stopped-idle': async (live, session) => {
    const { turn_id } = await live.say(session, 'Hello.');
    await live.client.workflow.getHandle(workflowIdOf(live, session)).result();
    const labels = { agent: 'main', summary: session };
    await live.temporal.stopIdle(live.tenant, session, { turn_id, level: 'all', by: 'ann' }, labels);
  },
  'session-stopped-at-its-end': stoppedTooLate,
  // Kept from workers for whom it changed nothing.
  'turn-stopped-too-late': stoppedTooLate,
  'turn-cancelled': busy(async (live, session) => {
    await live.client.workflow.getHandle(workflowIdOf(live, session)).cancel();
    return [];
  }),
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
  // The revision goes on in a new run, which knows what has been judged.
  'turn-gates-in-new-run': async (live, session) => {
    const { turn_id } = await live.say(session, 'Write.', { agent: 'turn-floods' });
    await live.probes.untilHeld('floods');
    await flood(live, session);
    live.probes.release('floods');
    for (const turn of [turn_id, `turn_${session}-f`]) await live.ended(turn);
  },
  'subagent-async': subagent(async (live, session) => live.probes.release(session)),
  'subagent-sync': saying('spawn {"action":"run","task":"Counted: 4."}\nthen\nDone.'),
  // Its session's first step says that it has begun.
  'subagent-begins-in-session': subagent(async (live, session) => live.probes.release(session)),
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
  // Its moment stands in the input, not its seconds only.
  'approval-until': decided({ decision: 'approve', by: 'ann' }),
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
    const as = (by: string): { by: string; token: string } => ({
      by,
      token: decisionToken(SECRET, live.tenant, id, by),
    });
    await live.temporal.decide(id, { decision: 'approve', by: 'ann' }).catch(() => undefined);
    await live.temporal.decide(id, { decision: 'approve', ...as('ann') });
    await live.temporal.decide(id, { decision: 'edit', args: { note: 'edited' }, ...as('bea') });
    await live.client.workflow
      .getHandle(`approval/${id}`)
      .signal('decide', { decision: 'approve', ...as('ann') });
    await live.ended(turn_id);
  },
  'approval-escalates': async (live, session) => {
    const { turn_id } = await live.say(session, `poke {"note":"${session}"}`, { agent: 'rises' });
    const id = await live.approvalOf(session);
    const handle = live.client.workflow.getHandle(`approval/${id}`);
    await live.until('the escalation', async () => (await handle.query<ApprovalState>('state')).escalated);
    const token = decisionToken(SECRET, live.tenant, id, 'boss');
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

async function record(live: LiveWorker, name: string, path: Path): Promise<void> {
  await path(live, name);
  const id = workflowIdOf(live, name);
  await live.client.workflow.getHandle(id).result();
  const runs: { runId: string; start: Date }[] = [];
  for await (const { runId, startTime } of live.client.workflow.list({ query: `WorkflowId = '${id}'` }))
    runs.push({ runId, start: startTime });
  const first = runs.toSorted((a, b) => a.start.getTime() - b.start.getTime())[0];
  if (!first) throw new Error(`${name} left no run`);
  // One that was ended from outside stays as it is.
  const chain = name === 'turn-lost' ? [] : await fetchChain(live.client, id, first.runId);
  // What comes to an idle session begins a run that nothing links to the first.
  const last = runs.toSorted((a, b) => b.start.getTime() - a.start.getTime())[0]?.runId;
  if (['turn-duplicate', 'session-stopped-idle', 'turn-lost'].includes(name))
    chain.push(await fetchHistory(live.client, id, last));
  for (const [index, history] of chain.entries()) {
    await tell(chain.length > 1 ? `${name}.${index + 1}` : name, history);
    await recordChildren(live, name, history);
  }
}

/** Every run of each task, and what they started. */
async function recordTasks(live: LiveWorker, name: string, ids: readonly string[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const label = ids.length > 1 ? `${name}-${index + 1}` : name;
    const handle = live.client.workflow.getHandle(id);
    await handle.result().catch(() => undefined);
    const newest = (await handle.describe()).runId;
    const runs = await live.until(`the runs of ${id}`, () => runsOf(live, id, newest));
    for (const [run, runId] of runs.entries()) {
      const history = await fetchHistory(live.client, id, runId);
      await tell(runs.length > 1 ? `${label}.${run + 1}` : label, history);
      await recordChildren(live, label, history);
    }
  }
}

/** By start; undefined while the list does not have the newest one yet. */
async function runsOf(live: LiveWorker, id: string, newest: string): Promise<string[] | undefined> {
  const runs: { runId: string; start: Date }[] = [];
  for await (const { runId, startTime } of live.client.workflow.list({ query: `WorkflowId = '${id}'` }))
    runs.push({ runId, start: startTime });
  const ids = runs.toSorted((a, b) => a.start.getTime() - b.start.getTime()).map(({ runId }) => runId);
  return ids.includes(newest) ? ids : undefined;
}

/** Whole trees: the children of children too. */
async function recordChildren(live: LiveWorker, name: string, parent: unknown): Promise<void> {
  for (const child of childrenOf(parent)) {
    await live.client.workflow
      .getHandle(child.id)
      .result()
      .catch(() => undefined);
    const history = await fetchHistory(live.client, child.id);
    await tell(`${name}.${child.type}`, history);
    await recordChildren(live, `${name}.${child.type}`, history);
  }
}

async function tell(name: string, history: unknown): Promise<void> {
  console.log(`${(await keepHistory(name, history)) ? 'kept   ' : 'is kept'} ${name}`);
}

function childrenOf(history: unknown): { id: string; type: string }[] {
  const { events } = history as {
    events: readonly {
      startChildWorkflowExecutionInitiatedEventAttributes?: {
        workflowId: string;
        workflowType: { name: string };
      };
    }[];
  };
  return events.flatMap(({ startChildWorkflowExecutionInitiatedEventAttributes: child }) =>
    child ? [{ id: child.workflowId, type: child.workflowType.name }] : [],
  );
}

/** Gates of agents whose work is delegated, by agent. */
const GATES: Readonly<Record<string, readonly Omit<QualityGate, 'event'>[]>> = {
  revised: [
    { type: 'agent', agent: 'critic', max_retries: 1, block_on_failure: true },
    { type: 'command', command: 'grep -q improved' },
  ],
  warned: [{ type: 'command', command: 'echo too long >&2; exit 1' }],
  blocked: [{ type: 'command', command: 'exit 1', max_retries: 1, block_on_failure: true }],
};

/** The same for each answer of a turn. */
const TURN_GATES: Readonly<Record<string, readonly Omit<QualityGate, 'event'>[]>> = {
  'turn-revised': [{ type: 'agent', agent: 'critic', max_retries: 1, block_on_failure: true }],
  'turn-blocked': [{ type: 'command', command: 'exit 1', max_retries: 1, block_on_failure: true }],
  'turn-floods': [{ type: 'command', command: 'grep -q improved', max_retries: 1, block_on_failure: true }],
};

await globalSetup();
const stack = await startStack({
  settings: 'subagents: { maxDepth: 2 }',
  env: { TEMPOCLAW_DECISION_TOKEN_SECRET: SECRET },
  scripts: {
    broken: 'rules:\n  - reply: { error: { status: 401, message: No. } }\n',
    circles: 'rules:\n  - reply: { calls: [{ tool: peek, args: { note: same } }] }\n',
    pauses:
      'rules:\n  - when: { step: 0 }\n    reply: { calls: [{ tool: peek, args: { note: a } }] }\n  - reply: { delay: 1s, text: Late. }\n',
    holds: 'rules:\n  - reply: { calls: [{ tool: hold, args: { note: evaluate } }] }\n',
    floods:
      'rules:\n  - when: { user: Quality Gate Feedback, step: 0 }\n    reply: { calls: [{ tool: hold, args: { note: floods } }] }\n  - when: { user: Quality Gate Feedback }\n    reply: { text: improved draft }\n  - reply: { text: first draft }\n',
    never: 'rules:\n  - reply: { text: "REJECTED: more" }\n',
    critic:
      'rules:\n  - when: { user: { regex: improved } }\n    reply: { text: approved }\n  - reply: { text: "REJECTED: improve it" }\n',
    drafts:
      'rules:\n  - when: { user: { regex: "(Gate|Evaluator) [Ff]eedback" } }\n    reply: { text: improved draft }\n  - reply: { text: first draft }\n',
  },
  agents: [
    { key: 'free', tools: {} },
    { key: 'runs', exec: { security: 'full', ask: 'off' } },
    { key: 'pauses', model: 'rehearsal/pauses' },
    { key: 'spare', budgets: [{ scope: 'turn', calls: 1 }] },
    { key: 'broken', model: 'rehearsal/broken' },
    { key: 'circles', model: 'rehearsal/circles' },
    { key: 'brief', tools: { ask: [{ tool: 'poke', expires_seconds: 1 }] } },
    { key: 'two', tools: { ask: [{ tool: 'poke', quorum: 2 }] } },
    {
      key: 'rises',
      tools: { ask: [{ tool: 'poke', escalate: { after_seconds: 1, to: { users: ['boss'] } }, quorum: 1 }] },
    },
    { key: 'reminds', tools: { ask: [{ tool: 'poke', remind_seconds: 5, expires_seconds: 7 }] } },
    { key: 'm1', tools: {} },
    { key: 'm2', tools: {} },
    { key: 'giver' },
    { key: 'middle' },
    { key: 'taker' },
    ...['holds', 'never', 'critic', 'drafts'].map((key) => ({ key, model: `rehearsal/${key}` })),
    ...Object.entries(GATES).map(([key, gate]) => ({
      key,
      model: 'rehearsal/drafts',
      quality_gates: gate.map((one): QualityGate => ({ event: 'delegation.completed', ...one })),
    })),
    ...Object.entries(TURN_GATES).map(([key, gate]) => ({
      key,
      model: key === 'turn-floods' ? 'rehearsal/floods' : 'rehearsal/drafts',
      quality_gates: gate.map((one): QualityGate => ({ event: 'turn.completed', ...one })),
    })),
  ],
});
const live = stack.worker;
const targets = ['middle', 'taker', 'broken', 'holds', 'never', 'critic', 'drafts', ...Object.keys(GATES)];
for (const target of targets)
  await stack.ask('POST', '/v1/agent-links', { body: { source: 'giver', target } });
await stack.ask('POST', '/v1/agent-links', { body: { source: 'middle', target: 'taker' } });
try {
  const word = process.argv[2] ?? '';
  for (const [name, path] of Object.entries(PATHS)) if (name.includes(word)) await record(live, name, path);
  for (const name of Object.keys(TASK_PATHS))
    if (name.includes(word)) await recordTasks(live, name, await walkTaskPath(stack, name));
  console.log(`in ${HISTORIES_FOLDER}`);
} finally {
  await stack.stop();
  await globalTeardown();
}
