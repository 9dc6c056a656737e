/**
 * Walks each path of the workflows and keeps the histories that reach code which no other kept one reaches
 * (covering.ts), by hand: `npx node test/replay/record.ts [WORD]`. It walks all paths or those that have the word in
 * their names. Histories that are kept already stay as they are, so after a change of a workflow only new paths are
 * added. Old ones show that running turns survive the change.
 */
import type { QualityGate } from '#domain/gate/gate.ts';
import { FORK_SESSION, forkWorkflowId } from '#features/fork/contract.ts';
import { INDEX_DOCUMENT } from '#features/memory/contract.ts';
import { NEXUS_TURN } from '#features/nexus/contract.ts';
import { indexWorkflowId } from '#features/memory/index-id.ts';
import { FORGET, forgetWorkflowId } from '#domain/forgetting.ts';
import { SCHEDULED_MESSAGE, scheduleIdOf } from '#features/schedules/contract/schedule.ts';
import { SWEEP, sweepId } from '#domain/sweep.ts';
import { AGENT_TURN } from '#domain/turn/turn.ts';
import { beginForgetting } from '#store/forgetting-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { LiveWorker } from '#test/support/live-worker.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';
import {
  fetchChain,
  fetchHistory,
  HISTORIES_FOLDER,
  keepHistory,
  readHistories,
  removeHistory,
} from '#test/support/histories.ts';
import { SUBMITS } from '#test/support/gate-scripts.ts';
import { globalSetup, globalTeardown } from '#test/support/services.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { covering } from './covering.ts';
import { type Path, PATHS, SECRET } from './paths.ts';
import { TASK_PATHS, walkTaskPath } from './task-paths.ts';

async function record(live: LiveWorker, name: string, path: Path): Promise<void> {
  await path(live, name);
  const id = workflowIdOf(live, name);
  await live.client.workflow.getHandle(id).result();
  // The list of workflows follows a moment later.
  const runs = await live.until('the run to be listed', async () => {
    const found: { runId: string; start: Date }[] = [];
    for await (const { runId, startTime } of live.client.workflow.list({ query: `WorkflowId = '${id}'` }))
      found.push({ runId, start: startTime });
    return found.length > 0 ? found : undefined;
  });
  const [first] = runs.toSorted((a, b) => a.start.getTime() - b.start.getTime());
  if (!first) throw new Error(`${name} left no run`);
  // A run that was ended from outside stays as it is.
  const chain = name === 'turn-lost' ? [] : await fetchChain(live.client, id, first.runId);
  // What comes to an idle session starts a run that nothing links to the first.
  const last = runs.toSorted((a, b) => b.start.getTime() - a.start.getTime())[0]?.runId;
  if (['turn-duplicate', 'session-stopped-idle', 'turn-lost'].includes(name))
    chain.push(await fetchHistory(live.client, id, last));
  for (const [index, history] of chain.entries()) {
    await tell(chain.length > 1 ? `${name}.${index + 1}` : name, history);
    await recordChildren(live, name, history);
  }
}

/** Records every run of each task, and what they started. */
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

/** Runs by start; undefined while the list does not have the newest one yet. */
async function runsOf(live: LiveWorker, id: string, newest: string): Promise<string[] | undefined> {
  const runs: { runId: string; start: Date }[] = [];
  for await (const { runId, startTime } of live.client.workflow.list({ query: `WorkflowId = '${id}'` }))
    runs.push({ runId, start: startTime });
  const ids = runs.toSorted((a, b) => a.start.getTime() - b.start.getTime()).map(({ runId }) => runId);
  return ids.includes(newest) ? ids : undefined;
}

/** Records whole trees: also the children of children, but not the turns in them, of which there are enough paths. */
async function recordChildren(live: LiveWorker, name: string, parent: unknown): Promise<void> {
  for (const child of childrenOf(parent)) {
    await live.client.workflow
      .getHandle(child.id)
      .result()
      .catch(() => undefined);
    const history = await fetchHistory(live.client, child.id);
    if (child.type !== AGENT_TURN.type) await tell(`${name}.${child.type}`, history);
    await recordChildren(live, `${name}.${child.type}`, history);
  }
}

async function recordSweep({ client, taskQueue }: LiveWorker): Promise<void> {
  const workflowId = sweepId(taskQueue);
  await client.workflow.execute(SWEEP.type, { workflowId, taskQueue });
  await tell(SWEEP.type, await fetchHistory(client, workflowId));
}

/** A workflow that nothing links to the session indexes what it wrote. */
async function recordIndex(live: LiveWorker): Promise<void> {
  await live.ended(
    (await live.say('index', 'memory_write {"content":"x"}\nthen\nDone.', { agent: 'free' })).turn_id,
  );
  const id = indexWorkflowId({ tenant: live.tenant, agent: 'free', user: null });
  await live.client.workflow.getHandle(id).result();
  await tell(INDEX_DOCUMENT.type, await fetchHistory(live.client, id));
}

/** Does the same where facts are extracted beside it. */
async function recordExtraction(live: LiveWorker): Promise<void> {
  const path = `memory_write {"content":"x"}\nthen\nDone.`;
  await live.ended((await live.say('extract', path, { agent: 'learns' })).turn_id);
  const id = indexWorkflowId({ tenant: live.tenant, agent: 'learns', user: null });
  await live.client.workflow.getHandle(id).result();
  await tell(`${INDEX_DOCUMENT.type}-extracts`, await fetchHistory(live.client, id));
}

async function tell(name: string, history: unknown): Promise<void> {
  console.log(`${(await keepHistory(name, history)) ? 'recorded' : 'is kept '} ${name}`);
}

async function recordForget({ client, pool, taskQueue, tenant }: LiveWorker): Promise<void> {
  const { id } = await beginForgetting(forTenant(pool, tenant), {
    id: 'fgt_replay',
    kind: 'session',
    subject: 'nobody',
    requested_by: 'ann',
  });
  const workflowId = forgetWorkflowId(id);
  await client.workflow.execute(FORGET, { workflowId, taskQueue, args: [{ tenant, id }] });
  await tell(FORGET, await fetchHistory(client, workflowId));
}

async function recordSchedule({ client, taskQueue, tenant }: LiveWorker): Promise<void> {
  const workflowId = scheduleIdOf(tenant, 'gone');
  await client.workflow.execute(SCHEDULED_MESSAGE, {
    workflowId,
    taskQueue,
    args: [{ tenant, schedule: 'gone', at: '2026-01-01T09:00:00.000Z' }],
  });
  await tell(SCHEDULED_MESSAGE, await fetchHistory(client, workflowId));
}

/** An operation whose turn has ended, and one that is cancelled. */
async function recordNexusTurn(live: LiveWorker): Promise<void> {
  const { client, taskQueue, tenant } = live;
  const follow = async (workflowId: string, text: string) => {
    const { turn_id: turn } = await live.say(workflowId, text);
    return client.workflow.start(NEXUS_TURN, {
      workflowId,
      taskQueue,
      args: [{ tenant, session: workflowId, turn }],
    });
  };
  await (await follow('nexus-ends', 'Hello.')).result();
  await tell(NEXUS_TURN, await fetchHistory(client, 'nexus-ends'));
  const cancelled = await follow('nexus-cancelled', 'wait {"timeMs":60000}');
  await live.until('the turn to run', async () =>
    (await live.turns('nexus-cancelled'))[0]?.status === 'running' ? true : undefined,
  );
  await cancelled.cancel();
  await cancelled.result().catch(() => undefined);
  await tell(`${NEXUS_TURN}-cancelled`, await fetchHistory(client, 'nexus-cancelled'));
}

/** A beat whose turn is watched until it has ended. */
async function recordHeartbeat({ ask, worker: { client } }: Stack): Promise<void> {
  await ask('PUT', '/v1/agents/main/files/HEARTBEAT.md', { body: { text: '- look at the post' } });
  await ask('PATCH', '/v1/agents/main/heartbeat', { body: { prompt: 'HEARTBEAT_OK' } });
  const { body } = await ask('POST', '/v1/agents/main/heartbeat/test', { body: {} });
  await client.workflow.getHandle(body.workflow_id).result();
  await tell(`${SCHEDULED_MESSAGE}-heartbeat`, await fetchHistory(client, body.workflow_id));
}

/** A fork that is made, and one whose session is not there any more. */
async function recordFork({ ask, worker }: Stack): Promise<void> {
  const { client, taskQueue, tenant } = worker;
  await worker.ended((await worker.say('forked', 'Hello.', { agent: 'free' })).turn_id);
  await ask('POST', '/v1/sessions/forked/forks', { body: { key: 'fork-copy', message: 'Go on.' } });
  const made = forkWorkflowId(tenant, 'fork-copy');
  await client.workflow.getHandle(made).result();
  await tell(FORK_SESSION.type, await fetchHistory(client, made));
  const workflowId = forkWorkflowId(tenant, 'fork-gone');
  const args = [{ tenant, session: 'fork-gone' }];
  await client.workflow.execute(FORK_SESSION.type, { workflowId, taskQueue, args });
  await tell(`${FORK_SESSION.type}-gone`, await fetchHistory(client, workflowId));
}

/** Only removes what was recorded now. */
async function removeCovered(kept: ReadonlySet<string>): Promise<void> {
  const histories = await readHistories();
  const chosen = await covering(histories, kept);
  for (const { name } of histories) if (!chosen.has(name)) await removeHistory(name);
  console.log(`${chosen.size} of ${histories.length} are kept in ${HISTORIES_FOLDER}`);
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

/** The gates of each answer of a turn, by agent. */
const TURN_GATES: Readonly<Record<string, readonly Omit<QualityGate, 'event'>[]>> = {
  'turn-revised': [{ type: 'agent', agent: 'critic', max_retries: 1, block_on_failure: true }],
  'turn-blocked': [{ type: 'command', command: 'exit 1', max_retries: 1, block_on_failure: true }],
  'turn-floods': [{ type: 'command', command: 'grep -q improved', max_retries: 1, block_on_failure: true }],
};

/** The gates of work that is submitted for a task, by agent. */
const TASK_GATES: Readonly<Record<string, readonly Omit<QualityGate, 'event'>[]>> = {
  gated: [
    { type: 'agent', agent: 'critic', max_retries: 1, block_on_failure: true },
    { type: 'command', command: 'grep -q improved' },
  ],
  submits: [{ type: 'command', command: 'grep -q improved', max_retries: 1, block_on_failure: true }],
  endless: [{ type: 'command', command: 'while :; do sleep 0.1; done' }],
};

const kept = new Set((await readHistories()).map(({ name }) => name));
await globalSetup();
const stack = await startStack({
  settings: 'subagents: { maxDepth: 2 }\nwebhooks: { retrySeconds: [0.1] }',
  env: { TEMPOCLAW_DECISION_TOKEN_SECRET: SECRET },
  scripts: {
    broken: 'rules:\n  - reply: { error: { status: 401, message: No. } }\n',
    circles: 'rules:\n  - reply: { calls: [{ tool: peek, args: { note: same } }] }\n',
    pauses:
      'rules:\n  - when: { step: 0 }\n    reply: { calls: [{ tool: peek, args: { note: a } }] }\n  - reply: { delay: 1s, text: Late. }\n',
    paced:
      'delay: 150ms\nrules:\n  - when: { step: { below: 8 } }\n    reply: { calls: [{ tool: exec, args: { command: "echo {{step}}" } }] }\n  - reply: { text: Paced. }\n',
    holds: 'rules:\n  - reply: { calls: [{ tool: hold, args: { note: evaluate } }] }\n',
    floods:
      'rules:\n  - when: { user: Quality Gate Feedback, step: 0 }\n    reply: { calls: [{ tool: hold, args: { note: floods } }] }\n  - when: { user: Quality Gate Feedback }\n    reply: { text: improved draft }\n  - reply: { text: first draft }\n',
    learns: 'rules:\n  - reply: { calls: [{ tool: record_facts, args: { entities: [], relations: [] } }] }\n',
    submits: SUBMITS,
    never: 'rules:\n  - reply: { text: "REJECTED: more" }\n',
    critic:
      'rules:\n  - when: { user: { regex: improved } }\n    reply: { text: approved }\n  - reply: { text: "REJECTED: improve it" }\n',
    drafts:
      'rules:\n  - when: { user: { regex: "(Gate|Evaluator) [Ff]eedback" } }\n    reply: { text: improved draft }\n  - reply: { text: first draft }\n',
  },
  agents: [
    { key: 'free', tools: {} },
    { key: 'learns', tools: {}, knowledge: { model: 'rehearsal/learns' } },
    { key: 'runs', exec: { security: 'full', ask: 'off' } },
    { key: 'pauses', model: 'rehearsal/pauses' },
    { key: 'paced', model: 'rehearsal/paced', exec: { security: 'full', ask: 'off' } },
    {
      key: 'turn-asks',
      quality_gates: [{ event: 'turn.completed', type: 'command', command: 'true', block_on_failure: true }],
      budgets: [{ scope: 'turn', calls: 1 }],
    },
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
    ...Object.entries(TASK_GATES).map(([key, gate]) => ({
      key,
      model: key === 'submits' ? 'rehearsal/submits' : 'rehearsal/follow',
      quality_gates: gate.map((one): QualityGate => ({ event: 'task.completed', ...one })),
      tools: {},
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
  if (SWEEP.type.includes(word)) await recordSweep(live);
  if (INDEX_DOCUMENT.type.includes(word)) {
    await recordIndex(live);
    await recordExtraction(live);
  }
  if (FORGET.includes(word)) await recordForget(live);
  if (FORK_SESSION.type.includes(word)) await recordFork(stack);
  if (NEXUS_TURN.includes(word)) await recordNexusTurn(live);
  if (SCHEDULED_MESSAGE.includes(word)) {
    await recordSchedule(live);
    await recordHeartbeat(stack);
  }
  await removeCovered(kept);
} finally {
  await stack.stop();
  await globalTeardown();
}
