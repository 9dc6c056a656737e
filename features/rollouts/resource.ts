/** DU-10: revisions that only some sessions of an agent get, and how they do. */
import { z } from 'zod';
import { isName } from '#domain/ids.ts';
import { agentFlags } from '#domain/resource/agents.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { changeSchema, endSchema, rolloutSchema, runsSchema, setSchema, startSchema } from './schema.ts';

type Shown = z.infer<typeof rolloutSchema>;

const share = ['--share <percent>', 'of 100 users, how many get it', { kind: 'number' }] as const;
const users = ['--users <users>', 'these get it, with commas between them', { kind: 'commas' }] as const;
const sessions = ['--sessions <keys>', 'these get it, with commas between them', { kind: 'commas' }] as const;
const abortWhen = ['--abort-when <rule>', 'put it back by itself, as by failed>5%'] as const;
const reason = ['--reason <text>', 'for people'] as const;

export const rollouts = defineResource(
  {
    path: '/v1/rollouts',
    tag: 'agents',
    item: rolloutSchema,
    key: 'agent',
    isKey: isName,
    isDefinition: true,
    missing: 'There is no such agent, or none of its revisions is in a rollout',
  },
  ({ list, show, create, change, action }) => ({
    listRollouts: list({
      scope: 'read',
      summary: 'List rollouts in force',
      command: {
        help: 'those in force',
        columns: {
          agent: 'agent',
          revision: ({ base, revision }) => `${base} → ${revision}`,
          gets: { flexible: whom },
          by: 'started_by',
          started: { ago: 'started_at' },
        },
        nothing: 'No revision is in a rollout.',
      },
    }),
    getRollout: show({
      scope: 'read',
      summary: 'Get the rollout of an agent',
      command: { help: 'that of an agent' },
    }),
    startRollout: create({
      scope: 'admin',
      summary: 'Give a revision to some sessions of an agent',
      description:
        'The new revision is there, and all others stay at the one they have. A running turn keeps its own. While a rollout is in force, the agent cannot be changed otherwise.',
      body: startSchema,
      refuses: ['NotFound', 'Conflict', 'Unprocessable'],
      command: {
        word: 'start',
        help: 'give a changed agent to some of its sessions',
        arguments: ['agent'],
        flags: {
          share,
          users,
          sessions,
          abort_when: abortWhen,
          reason,
          revision: ['--revision <n>', 'a revision that is there already', { kind: 'number' }],
          ...agentFlags,
        },
        says,
      },
    }),
    setRollout: change({
      scope: 'admin',
      summary: 'Change who gets the revision',
      description:
        'A greater share only adds. Sessions that have had the revision keep it, also when the share is lowered, until the rollout ends.',
      body: setSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'set',
        help: 'change who gets it',
        flags: {
          share,
          users,
          sessions,
          abort_when: abortWhen,
          number: ['--number <n>', 'only while this is its last change', { kind: 'number' }],
          reason,
        },
        says,
      },
    }),
    finishRollout: action('finish')({
      scope: 'admin',
      summary: 'Give the revision to all sessions',
      body: endSchema,
      refuses: ['Conflict'],
      command: {
        word: 'finish',
        help: 'give it to all',
        flags: { rollout: ['--rollout <id>', 'only while this one is in force'], reason },
        says,
      },
    }),
    putRolloutBack: action('back')({
      scope: 'admin',
      summary: 'Take the revision back from all sessions',
      description:
        'The next turn of every session has the revision that the others have. Running turns finish with their prompt, model and tools; the rules for their calls are those of the others at once.',
      body: endSchema,
      refuses: ['Conflict'],
      command: {
        word: 'back',
        help: 'nobody gets it any more, from the next turn on',
        flags: { rollout: ['--rollout <id>', 'only while this one is in force'], reason },
        says,
      },
    }),
  }),
  ({ listOf }) => ({
    listRolloutChanges: listOf('changes', changeSchema, {
      scope: 'read',
      summary: 'List what was done with rollouts of an agent, the newest first',
      command: {
        help: 'who has started, changed and ended rollouts of an agent',
        columns: {
          number: 'number',
          what: 'action',
          revision: ({ base, revision }) => `${base} → ${revision}`,
          share: 'share',
          by: 'by',
          why: { flexible: 'reason' },
          when: { ago: 'at' },
        },
        nothing: 'It has had no rollout.',
      },
    }),
    compareRuns: operation({
      scope: 'read',
      method: 'GET',
      path: '/v1/rollouts/:agent/runs',
      params: z.object({ agent: z.string() }),
      findsFirst: true,
      summary: 'Compare how the turns of an agent’s revisions went',
      description:
        'Since the start of its newest rollout, else of the last 7 days. Replays and evals do not count.',
      query: z.strictObject({ since: z.iso.datetime({ offset: true }).optional() }),
      answer: runsSchema,
      command: {
        word: 'compare',
        help: 'how the turns of each revision went',
        flags: {
          since: ['--since <time>', 'such as 2026-01-31T12:00:00Z; absent means since its newest rollout'],
        },
      },
    }),
  }),
);

function whom({ share: percent, users: named, sessions: keys }: Shown): string {
  const also = [
    ...(named.length > 0 ? [`users ${named.join(', ')}`] : []),
    ...(keys.length > 0 ? [`sessions ${keys.join(', ')}`] : []),
  ];
  return [`${percent} %`, ...also].join(' and ');
}

function says(one: Shown): string {
  const { agent, state, base, revision } = one;
  if (state === 'finished') return `every session of ${agent} has revision ${revision} from its next turn on`;
  if (state === 'back') return `every session of ${agent} has revision ${base} from its next turn on`;
  return `revision ${revision} of ${agent} is for ${whom(one)}, all others have ${base}\nhow it does: tempoclaw rollouts compare ${agent}`;
}
