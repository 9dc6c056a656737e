/** Sessions: which exist, what they do and their transcripts; steering and stopping their turns. */
import { z } from 'zod';
import { isSessionKey } from '../ids.ts';
import { WORK_STATUSES } from '../assignment/assignment.ts';
import { subagentSchema } from '../schema/assignment.ts';
import {
  messageReceiptSchema,
  messageSchema,
  steerSchema,
  stopReceiptSchema,
  stopSchema,
} from '../schema/message.ts';
import { STOP_LEVELS } from '../turn/turn.ts';
import { labelSchema, nameSchema, sessionKeySchema } from '../schema/scalars.ts';
import { sessionSchema } from '../schema/session.ts';
import { turnSchema } from '../schema/turn.ts';
import { sessionTreeSchema } from '../schema/step.ts';
import { defineResource, operation } from './define-resource.ts';

export const sessions = defineResource(
  {
    path: '/v1/sessions',
    tag: 'sessions',
    item: sessionSchema,
    key: 'key',
    keySchema: sessionKeySchema,
    isKey: isSessionKey,
    missing: 'There is no session with this key',
  },
  ({ list, show, listOf }) => ({
    listSessions: list({
      scope: 'read',
      summary: 'List sessions, newest change first',
      query: {
        agent: nameSchema.optional(),
        user: labelSchema.optional(),
        channel: labelSchema.optional(),
      },
      command: {
        help: 'the sessions, newest first',
        columns: {
          session: { flexible: 'key' },
          agent: 'agent',
          status: 'status',
          turns: 'turns',
          'last active': { ago: 'updated_at' },
        },
        nothing: 'No sessions yet. Begin one with: npx tempoclaw chat',
      },
    }),
    getSession: show({
      scope: 'read',
      summary: 'Get a session',
      command: { help: 'one session, and each of its turns with its run in Temporal' },
    }),
    listSessionTurns: listOf('turns', turnSchema, {
      scope: 'read',
      summary: 'List a session’s turns, newest first',
      command: {
        below: 'turns',
        word: 'list',
        params: { key: 'session' },
        help: 'the turns of a session, newest first',
        columns: {
          turn: 'id',
          status: 'status',
          steps: 'steps',
          asked: { ago: 'created_at' },
          answer: { flexible: ({ text, error }) => text ?? error?.message },
        },
        nothing: 'No turns.',
      },
    }),
    listMessages: listOf('messages', messageSchema, {
      scope: 'read',
      summary: 'Read the transcript',
      query: { order: z.enum(['asc', 'desc']).default('asc') },
      command: { help: 'what was said' },
    }),
    listSubagents: listOf('subagents', subagentSchema, {
      scope: 'read',
      tag: 'subagents',
      summary: 'List the subagents that a session has started, newest first',
      query: { status: z.enum(WORK_STATUSES).optional() },
      command: {
        below: 'subagents',
        word: 'list',
        params: { key: 'session' },
        help: 'those that a session has started, newest first',
        flags: {
          status: ['--status <status>', 'queued, running, completed, failed, cancelled or timeout'],
        },
        columns: {
          subagent: 'id',
          status: 'status',
          label: { flexible: 'label' },
          calls: 'iterations',
          started: { ago: 'created_at' },
        },
        nothing: 'No subagents.',
      },
    }),
  }),
  ({ action }) => ({
    getSessionTree: operation({
      scope: 'read',
      method: 'GET',
      path: '/v1/sessions/:key/tree',
      params: z.object({ key: sessionKeySchema }),
      findsFirst: true,
      tag: 'sessions',
      summary: 'Get all work below a session',
      description:
        'Subagents, delegations, evaluations, judges and tasks of teams, and what their sessions gave away in turn; at most 1000.',
      answer: sessionTreeSchema,
      command: {
        word: 'tree',
        help: 'all work below a session: subagents, delegations, tasks',
        columns: {
          work: { flexible: ({ depth, kind, label }) => `${'  '.repeat(depth - 1)}${kind} ${label}` },
          agent: 'agent',
          status: 'status',
          tokens: 'tokens',
          usd: 'cost_usd',
          session: 'session_key',
        },
        nothing: 'This session has given no work to others.',
      },
    }),
    steerTurn: action('steer')({
      scope: 'run',
      tag: 'messages',
      repeatable: true,
      status: 202,
      summary: 'Steer the running turn',
      description:
        'The text is read by the next model call of the turn that runs; the answer says which step.',
      body: steerSchema,
      answer: messageReceiptSchema,
      refuses: ['Conflict', 'StaleTurn'],
      command: { by: 'chat' },
    }),
    stopTurn: action('stop')({
      scope: 'run',
      tag: 'messages',
      repeatable: true,
      status: 202,
      summary: 'Stop a turn',
      description:
        'A stop names its turn, so a late one never hits the next; without `turn_id` the running one is meant. `now` and `all` also stop the subagents that the session has started and the work that it gave away, and `all` ends its background commands and its own box; `turn_id` is null when no turn ran.',
      body: stopSchema,
      answer: stopReceiptSchema,
      refuses: ['Conflict', 'StaleTurn'],
      command: {
        word: 'stop',
        help: 'stop the turn that runs, or what a session without one has left running',
        flags: {
          level: [
            '--level <level>',
            'step: after this step; now: at once; all: at once, with what waits and all that the session has left running',
            { choices: STOP_LEVELS, default: 'now' },
          ],
          turn_id: ['--turn <id>', 'the turn that is meant (default: the running one)'],
          reason: ['--reason <text>'],
        },
        says: ({ level, turn_id: turn }) =>
          `stop (${level}) was sent to ${turn ?? 'what the session has left running'}`,
      },
    }),
  }),
);
