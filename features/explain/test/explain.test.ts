/** PO-4: explain on the command line, without a server, over whole corpora. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ExplainKind } from '../schema/explain.ts';
import { assertAnswer, explainCases, makeExplainWorkspace } from './explain-cases.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';
import { runCli } from '#test/cli/support/run-cli.ts';

/** Runs in a folder where nothing runs, with no environment that could name a server. */
async function explain(
  cwd: string,
  args: readonly string[],
  input?: string,
): Promise<{ code: number | null; out: string; err: string }> {
  const ran = await runCli(['explain', ...args], {
    cwd,
    env: { HOME: cwd },
    ...(input === undefined ? {} : { input }),
  });
  return { code: ran.code, out: ran.stdout, err: ran.stderr };
}

async function explainAll(
  cwd: string,
  kind: ExplainKind,
  cases: readonly unknown[],
): Promise<Record<string, any>[]> {
  const { code, out, err } = await explain(
    cwd,
    [kind, '--jsonl'],
    cases.map((one) => `${JSON.stringify(one)}\n`).join(''),
  );
  assert.equal(code, 0, err);
  const answers = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, any>);
  assert.equal(answers.length, cases.length, 'one answer a case');
  return answers;
}

function vectors<Content>(name: string): Content {
  return JSON.parse(
    readFileSync(new URL(`../../../test/vectors/${name}`, import.meta.url), 'utf8'),
  ) as Content;
}

/** The corpus has short names for the layers of a policy. */
function inOurWords({ g, ag, grp, prov, sub, leaf }: any): object {
  const subagent = leaf ? 'leaf' : sub;
  return { global: g, agent: ag, group: grp, provider: prov, subagent };
}

describe('PO-4 tempoclaw explain', () => {
  test('answers each line of its input in order, and a bad line with an error on its line', async (t) => {
    const folder = await temporaryFolder(t);
    const lines = [
      '{"command":"ls","id":1}',
      'not json',
      '',
      '[1]',
      '{"command":"sudo id","id":"b"}',
      '{"nothing":1}',
    ];
    const { code, out } = await explain(folder, ['shell', '--jsonl'], lines.join('\n'));
    const answers = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, any>);
    assert.equal(code, 0);
    assert.deepEqual(
      answers.map((answer) => answer['error']?.code ?? answer['decision']),
      ['allow', 'InvalidInput', 'InvalidInput', 'deny', 'InvalidInput'],
    );
    assert.match(answers[1]?.['error'].message, /^line 2 is not JSON/);
    assert.deepEqual([answers[0]?.['id'], answers[3]?.['id']], [1, 'b']);
  });

  test('our own cases of every kind', async (t) => {
    const folder = await temporaryFolder(t);
    const workspace = await makeExplainWorkspace(folder);
    const cases = explainCases(workspace);
    for (const kind of ['tool', 'shell', 'path', 'url', 'scrub'] as const) {
      const own = cases.filter(([one]) => one === kind).map(([, one]) => one);
      const answers = await explainAll(
        folder,
        kind,
        own.map(({ given }) => given),
      );
      for (const [at, one] of own.entries()) assertAnswer(answers[at] ?? {}, one);
    }
  });

  test('PO-1 the tools that are left in each case of the policy corpus', async (t) => {
    const folder = await temporaryFolder(t);
    const { cases, registered, groups, profiles } = vectors<any>('policy.json');
    const mcp = { 'mcp:postgres': ['mcp_pg__query', 'mcp_pg__list_tables'] };
    const value = cases.map((one: any) => ({
      config: {
        ...inOurWords(one.config),
        registered: one.registered ?? registered,
        groups: { ...groups, ...mcp },
        profiles,
      },
    }));
    const answers = await explainAll(folder, 'tool', value);
    for (const [at, one] of cases.entries()) assert.deepEqual(answers[at]?.['tools'], one.expect, one.name);
  });

  test('SH-1 the corpus of commands', async (t) => {
    const folder = await temporaryFolder(t);
    const { bypass, benign, must_reject } = vectors<any>(
      '../../packages/shell-judge/test/vectors/shell-bypass-corpus.json',
    );
    const all = [...bypass, ...benign, ...must_reject];
    const answers = await explainAll(
      folder,
      'shell',
      all.map(({ cmd }: any) => ({ command: cmd })),
    );
    const of = (list: any[]): [any, any][] => list.map((one) => [one, answers[all.indexOf(one)]]);
    for (const [one, answer] of of(bypass))
      assert.ok(one.minimum === 'deny' ? answer.decision === 'deny' : answer.decision !== 'allow', one.cmd);
    for (const [one, answer] of of(must_reject)) assert.notEqual(answer.decision, 'allow', one.id);
    const core = of(benign.filter((one: any) => one.tier === 'core'));
    const allowed = core.filter(([, answer]) => answer.decision === 'allow').length;
    t.diagnostic(`${bypass.length} bypasses held, ${allowed} of ${core.length} harmless commands allowed`);
    assert.ok(allowed >= core.length * 0.97);
  });

  test('R5 addresses and SC-1 texts', async (t) => {
    const folder = await temporaryFolder(t);
    const { cases } = vectors<any>('../../packages/egress/test/vectors/urls.json');
    const urls = await explainAll(
      folder,
      'url',
      cases.map(({ url, dns }: any) => ({ url, dns: dns ?? { [hostOf(url)]: ['93.184.215.14'] } })),
    );
    for (const [at, one] of cases.entries()) assert.equal(urls[at]?.['rule'], one.is, one.url);
    const scrub = vectors<any>('../../packages/scrubber/test/vectors/scrub.json').cases;
    const texts = await explainAll(
      folder,
      'scrub',
      scrub.map(({ text }: any) => ({ text })),
    );
    for (const [at, one] of scrub.entries()) {
      if (one.expect === 'keep') assert.equal(texts[at]?.['text'], one.text);
      else assert.ok(!texts[at]?.['text'].includes(one.must_not_contain), one.text);
    }
  });

  test('shows people the decision, the rule and the remedy, under the settings of the folder', async (t) => {
    const own = await temporaryFolder(t);
    await writeFile(join(own, 'tempoclaw.yaml'), 'tools:\n  deny: ["group:runtime"]\n');
    await writeFile(join(own, 'other.yaml'), 'exec:\n  ask: always\n');
    const { out, code } = await explain(own, ['tool', 'exec']);
    assert.equal(code, 0);
    assert.match(out, /^deny\n/);
    assert.match(out, /denied by the settings' deny list \(group:runtime\)/);
    assert.match(out, /remedy +take group:runtime out of tools\.deny/);
    assert.match((await explain(own, ['shell', 'ls', '--config', 'other.yaml'])).out, /^ask\n[^]*ask_always/);
    assert.match((await explain(own, ['scrub', 'password=hunter2hunter2'])).out, /\[REDACTED\]\nhidden/);
    const json = JSON.parse((await explain(own, ['url', 'http://0/', '--json'])).out) as { decision: string };
    assert.equal(json.decision, 'deny');
  });

  test('says what is missing or wrong', async (t) => {
    const own = await temporaryFolder(t);
    const missing = await explain(own, ['shell']);
    assert.equal(missing.code, 2);
    assert.match(missing.err, /needs a command/);
    await writeFile(join(own, 'tempoclaw.yaml'), 'tools:\n  profile: codding\n');
    const broken = await explain(own, ['tool', 'exec']);
    assert.equal(broken.code, 1);
    assert.match(broken.err, /tempoclaw\.yaml:2:12: tools\.profile: there is no profile "codding"/);
  });
});

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : 'none.example';
}
