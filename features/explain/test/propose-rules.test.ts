/**
 * AP-7: a scripted month of decisions. Rules derived from its first part are tried on the rest by the judge of real
 * calls.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { AgentConfig } from '#domain/agent.ts';
import { type DecidedCall, proposeRules } from '../rules/propose-rules.ts';
import { createCallRules } from '#policy/call-rules.ts';
import { type Catalog, loadCatalog } from '#policy/catalog.ts';
import { FEATURES } from '#features';
import { createChance } from '#test/support/seeded.ts';

const ASKS: AgentConfig = {
  key: 'main',
  type: 'open',
  model: 'rehearsal/echo',
  tools: { ask: [{ tool: 'write_file' }, { tool: 'web_fetch' }, { tool: 'publish_skill' }] },
};

let catalog: Catalog;
before(async () => {
  catalog = await loadCatalog(FEATURES);
});

function verdictOf(agent: AgentConfig, { tool, args }: DecidedCall): string {
  const found = catalog.find(tool);
  assert.ok(found, tool);
  const rules = createCallRules({
    catalog,
    tools: {},
    resolveProgram: (name) => ({ path: `/usr/bin/${name}` }),
  });
  return rules.judge({ agent, user: null, context: {}, tool: found.tool, args, allowlist: [], used: {} })
    .verdict;
}

/** Accepts everything that is proposed. */
function withProposals(calls: readonly DecidedCall[]): AgentConfig {
  const adds = proposeRules(calls).map((each) => each.adds);
  return {
    ...ASKS,
    exec: { allowlist: adds.flatMap((each) => ('allowlist' in each ? [each.allowlist] : [])) },
    tools: { ...ASKS.tools, rules: adds.flatMap((each) => ('rule' in each ? [each.rule] : [])) },
  };
}

const command = (text: string, approved = true): DecidedCall => ({
  agent: 'main',
  tool: 'exec',
  args: { command: text },
  approved,
});
const write = (path: string, approved = true): DecidedCall => ({
  agent: 'main',
  tool: 'write_file',
  args: { path, content: `text of ${path}` },
  approved,
});
const proposed = (...calls: DecidedCall[]) => proposeRules(calls).map(({ adds }) => adds);
const times = (count: number, make: (at: number) => DecidedCall) =>
  Array.from({ length: count }, (_one, at) => make(at));

describe('AP-7 rules are proposed from decisions', () => {
  test('of a command: as it was said, and what may follow a subcommand that is said in different ways', () => {
    assert.deepEqual(proposed(...times(3, () => command('gh pr list'))), [{ allowlist: 'gh pr list' }]);
    assert.deepEqual(proposed(...times(3, (at) => command(`gh issue close ${at}`))), [
      { allowlist: 'gh issue close *' },
    ]);
    assert.deepEqual(
      proposed(...times(4, () => command('gh run watch')), ...times(3, () => command('gh run cancel 7'))),
      [{ allowlist: 'gh run watch' }, { allowlist: 'gh run cancel 7' }],
      'not `gh run *`: what else it can do was not asked for',
    );
  });

  test('of a call: its folder or origin, and what else it always was, whatever the content', () => {
    assert.deepEqual(proposed(...times(3, (at) => write(`notes/2026/${at}.md`))), [
      {
        rule: {
          tool: 'write_file',
          decision: 'allow',
          args: { path: 'notes/2026/*' },
          only_args: ['content', 'path'],
        },
      },
    ]);
    const fetches = times(3, (at) => ({
      agent: 'main',
      tool: 'web_fetch',
      args: { url: `https://docs.example.com/${at}`, method: 'GET' },
      approved: true,
    }));
    assert.deepEqual(proposed(...fetches), [
      {
        rule: {
          tool: 'web_fetch',
          decision: 'allow',
          args: { url: 'https://docs.example.com/*', method: 'GET' },
          only_args: ['method', 'url'],
        },
      },
    ]);
  });

  test('never of few decisions, of a program alone, of what runs anything, or of what a glob cannot tell', () => {
    assert.deepEqual(proposed(...times(2, () => command('gh pr list'))), []);
    assert.deepEqual(proposed(...times(5, () => command('terraform'))), []);
    assert.deepEqual(proposed(...times(5, (at) => command(`python3 run${at}.py`))), []);
    assert.deepEqual(proposed(...times(5, (at) => command(`docker run image${at}`))), []);
    assert.deepEqual(proposed(...times(5, (at) => command(`git -C ${at} push`))), []);
    assert.deepEqual(proposed(...times(5, () => command('gh pr list *'))), []);
    assert.deepEqual(proposed(...times(5, (at) => write(`notes/../${at}.md`))), []);
    assert.deepEqual(
      proposed(...times(5, (at) => ({ ...write('a'), args: { path: `a${at}`, amount: at } }))),
      [],
    );
  });

  test('never of a kind that was rejected: by another agent, with other words, or by options before the subcommand', () => {
    const pushes = times(5, () => command('git push origin main'));
    for (const rejected of ['git push --force', 'git -c a=b push', 'true && git push x'])
      assert.deepEqual(proposed(...pushes, { ...command(rejected, false), agent: 'other' }), [], rejected);
    assert.equal(proposed(...pushes, command('git commit -m x', false)).length, 1);
    assert.deepEqual(
      proposed(...times(5, (at) => write(`notes/${at}.md`)), write('notes/deep/secret.md', false)),
      [],
    );
    assert.equal(
      proposed(...times(5, (at) => write(`notes/${at}.md`)), write('other/x.md', false)).length,
      1,
    );
  });

  test('a rule that allows a folder does not allow a path that climbs out of it', () => {
    const agent = withProposals(times(3, (at) => write(`notes/${at}.md`)));
    assert.equal(verdictOf(agent, write('notes/new.md')), 'allow');
    const more = { ...write('notes/new.md'), args: { path: 'notes/new.md', content: 'x', append: true } };
    assert.equal(verdictOf(agent, more), 'ask', 'nor one with an argument that none had');
    for (const path of ['notes/../SOUL.md', 'notes/a/../../x', 'notes/..', 'notes/%2e%2e/x', 'other/a.md'])
      assert.equal(verdictOf(agent, write(path)), 'ask', path);
  });

  test('a scripted month: of 60 held-out questions at least 60 % are gone, and no rejected call is allowed', (t) => {
    const chance = createChance(1);
    const int = (below: number): number => chance.between(0, below - 1);
    const pick = <Item>(from: readonly Item[]): Item => from[int(from.length)] as Item;
    const topics = ['login', 'search', 'billing', 'upload', 'export'];
    const habits: (() => DecidedCall)[] = [
      () => command('gh pr list'),
      () => command(`gh issue close ${int(500)}`),
      () => command(`git commit -m "fix ${pick(topics)} ${int(1000)}"`),
      () => command(`gh pr create --title ${pick(topics)}`),
      () => command(`cd app && gh run watch ${int(9999)}`),
      () => write(`notes/${pick(topics)}-${int(100)}.md`),
      () => write(`docs/guides/${pick(topics)}.md`),
      () => ({
        agent: 'main',
        tool: 'web_fetch',
        args: { url: `https://docs.example.com/${pick(topics)}/${int(50)}` },
        approved: true,
      }),
    ];
    const rarely: (() => DecidedCall)[] = [
      () => command(`git push --force origin ${pick(topics)}`, false),
      () => command(`terraform apply -target=${pick(topics)}`, false),
      () => write(`deploy/${pick(topics)}.yaml`, false),
      () => write(`config-${int(100)}.json`),
      () => command(`curl -s https://${pick(topics)}.example.net/${int(99)}`),
      () => command(`git push origin ${pick(topics)}`),
    ];
    const month: DecidedCall[] = [];
    while (month.length < 200) {
      const call = pick(int(100) < 80 ? habits : rarely)();
      if (verdictOf(ASKS, call) === 'ask') month.push(call);
    }
    const learnt = month.slice(0, 140);
    const heldOut = month.slice(learnt.length);
    const agent = withProposals(learnt);
    const requests = heldOut.filter(({ approved }) => approved);
    const gone = requests.filter((call) => verdictOf(agent, call) === 'allow');
    t.diagnostic(`${gone.length} of ${heldOut.length} held-out questions are gone`);
    assert.ok(gone.length >= heldOut.length * 0.6);
    for (const call of month.filter(({ approved }) => !approved))
      assert.notEqual(verdictOf(agent, call), 'allow', JSON.stringify(call));
  });
});
