/** Numbers in GoClaw's and clawft's docs and code: default limits of a tool, a team or a connection. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { COMMAND_MAX_CHARS } from '#activities/process/command-text.ts';
import { KILL_SECONDS, MAX_TIMEOUT_SECONDS } from '#activities/process/command-limits.ts';
import { GRACE_MS, STREAM_BYTES } from '@tempoclaw/sandbox';
import { END_AT, WARN_AT } from '#activities/prompt/loop-guard.ts';
import { shownResult } from '#activities/tool-call/shown-result.ts';
import { loadConfig } from '#config';
import { DEFAULT_ITERATIONS } from '#domain/agent.ts';
import { ANNOUNCE } from '#domain/assignment/assignment.ts';
import { DEFAULT_TIMEOUT_SECONDS } from '#features/custom-tools/rules/definition.ts';
import { GATE_LIMITS } from '#domain/gate/gate.ts';
import { HEARTBEAT_DEFAULTS, HEARTBEAT_LIMITS } from '#features/schedules/contract/heartbeat.ts';
import { MAX_KNOWLEDGE_DEPTH } from '#features/knowledge/contract.ts';
import { BOX_EXEC_SECONDS, HOST_EXEC_SECONDS } from '#domain/sandbox.ts';
import { mcpServerCreateSchema } from '#features/mcp/schema/mcp-server.ts';
import { SECURE_CLI_PRESETS } from '#features/secure-cli/rules/presets.ts';
import { STEER_SETTLE_MS, STEER_TEXT, WAIT_SECONDS } from '#domain/assignment/subagent.ts';
import type { ToolResult } from '#domain/tool.ts';
import { TEAM_LIMITS } from '#domain/team/team.ts';
import { requestMessage } from '#domain/team/words.ts';
import { loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { scrubber } from '#test/activities/tool-call/fakes.ts';

const { subagents, approvals } = loadConfig({ env: {}, cwd: '/nowhere' });
const catalog = await loadCatalog(FEATURES);

describe('EX-5, EX-7, SA-1, TL limits of the seeds', () => {
  test('a result of 64 KB is given whole, and one byte more is cut', () => {
    const shown = (bytes: number) => {
      const claim = { claimed: true, tool: 'act', summary: 'act', step: 1 } as never;
      return shownResult({ scrubber }, 'call', claim, { ok: true, text: 'x'.repeat(bytes) }, 1);
    };
    assert.equal(shown(65_536).whole, undefined);
    assert.equal(shown(65_537).whole?.length, 65_537);
    assert.match(shown(65_537).text, /the whole is kept at \/v1\/tool-calls\/call\/result/);
  });

  test('EX-5 a result that its tool has cut says where the whole is kept, as one that is cut here', () => {
    const claim = { claimed: true, tool: 'exec', summary: 'exec', step: 1 } as never;
    const shown = (result: ToolResult) => shownResult({ scrubber }, 'call', claim, result, 1);
    const kept = /\[the whole is kept at \/v1\/tool-calls\/call\/result\]$/;
    const good = shown({ ok: true, text: 'x [9 left out]', whole: 'x'.repeat(10) });
    assert.match(good.text, kept);
    assert.equal(good.whole, 'x'.repeat(10));
    assert.match(shown({ ok: false, code: 'Timeout', message: 'x', whole: 'xx' }).text, kept);
    const long = shown({ ok: true, text: 'x'.repeat(65_500), whole: 'whole' });
    assert.ok(long.text.length <= 65_536);
    assert.match(long.text, kept);
    assert.equal(long.whole, 'whole');
    assert.equal(shown({ ok: true, text: 'x' }).text, 'x');
  });

  test('subagents, turns and their answers', () => {
    const { maxConcurrent, maxDepth, maxChildren, maxIterations, archiveAfterMinutes } = subagents;
    assert.deepEqual(
      { maxConcurrent, maxDepth, maxChildren, maxIterations, archiveAfterMinutes },
      { maxConcurrent: 8, maxDepth: 1, maxChildren: 5, maxIterations: 20, archiveAfterMinutes: 60 },
    );
    assert.deepEqual([STEER_SETTLE_MS, STEER_TEXT, WAIT_SECONDS], [500, 4_000, 300]);
    assert.deepEqual(ANNOUNCE, { debounceMs: 1_000, max: 20 });
    assert.deepEqual([DEFAULT_ITERATIONS, WARN_AT, END_AT], [20, 3, 5]);
    assert.equal(approvals.expirySeconds, 86_400);
  });

  test('commands', () => {
    assert.deepEqual([HOST_EXEC_SECONDS, BOX_EXEC_SECONDS, MAX_TIMEOUT_SECONDS], [60, 300, 300]);
    assert.deepEqual([COMMAND_MAX_CHARS, STREAM_BYTES, GRACE_MS], [30_000, 1_048_576, 3_000]);
    const { timeoutSeconds } = catalog.find('spawn_process')?.tool.limits ?? {};
    assert.ok(typeof timeoutSeconds === 'function');
    const input = { command: 'true' } as never;
    assert.equal(timeoutSeconds(input, { timeoutSeconds: 1 }) - KILL_SECONDS, 60);
    assert.equal(DEFAULT_TIMEOUT_SECONDS, 60);
    const presets = Object.entries(SECURE_CLI_PRESETS).map(([name, { timeout_seconds }]) => [
      name,
      timeout_seconds,
    ]);
    assert.deepEqual(Object.fromEntries(presets), {
      gh: 30,
      gcloud: 120,
      aws: 60,
      kubectl: 60,
      terraform: 300,
    });
    assert.equal(mcpServerCreateSchema.parse({ name: 'a', url: 'https://a.example' }).timeout_sec, 60);
  });

  test('teams, gates, heartbeats and the graph', () => {
    const { leaseSeconds, dispatches, listPage, searchPage, fileBytes } = TEAM_LIMITS;
    assert.deepEqual(
      { leaseSeconds, dispatches, listPage, searchPage, fileBytes },
      { leaseSeconds: 3_600, dispatches: 3, listPage: 30, searchPage: 5, fileBytes: 10 * 1024 * 1024 },
    );
    const done = {
      number: 1,
      subject: 'a',
      status: 'completed',
      owner: null,
      assignee: null,
      reason: null,
    } as const;
    const notice = (characters: number) => requestMessage('t', [{ ...done, result: 'x'.repeat(characters) }]);
    assert.doesNotMatch(notice(8_000), /\[cut; the whole/);
    assert.match(notice(8_001), /\[cut; the whole/);
    assert.deepEqual([GATE_LIMITS.seconds, GATE_LIMITS.retries], [60, 10]);
    const { ack_max_chars, max_retries, isolated_session } = HEARTBEAT_DEFAULTS;
    assert.deepEqual(
      [HEARTBEAT_LIMITS.min, ack_max_chars, max_retries, isolated_session],
      [300, 300, 2, true],
    );
    assert.equal(MAX_KNOWLEDGE_DEPTH, 5);
  });
});
