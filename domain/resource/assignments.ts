/** Work that agents gave to others: delegations (DE-2), rounds of making and judging (DE-4), subagents (SA-*). */
import { z } from 'zod';
import { WORK_STATUSES } from '../assignment.ts';
import { EVALUATION_STATUSES } from '../evaluate-loop.ts';
import { isMessageId } from '../ids.ts';
import {
  delegationDetailSchema,
  delegationSchema,
  evaluationDetailSchema,
  evaluationSchema,
  evaluationStopReceiptSchema,
  stopAssignmentSchema,
  subagentSchema,
  subagentSteerReceiptSchema,
  subagentSteerSchema,
  workStopReceiptSchema,
} from '../schema/assignment.ts';
import { nameSchema, sessionKeySchema } from '../schema/scalars.ts';
import { defineResource } from './define-resource.ts';

const byId = { key: 'id', isKey: isMessageId } as const;
const stop = {
  scope: 'run',
  repeatable: true,
  status: 202,
  body: stopAssignmentSchema,
  refuses: ['Conflict'],
} as const;

export const delegations = defineResource(
  {
    path: '/v1/delegations',
    tag: 'delegations',
    item: delegationSchema,
    ...byId,
    missing: 'There is no delegation with this id',
  },
  ({ list, show, action }) => ({
    listDelegations: list({
      scope: 'read',
      summary: 'List delegations, newest first',
      query: {
        source: nameSchema.optional().describe('The agent that gave it'),
        target: nameSchema.optional().describe('The agent that works on it'),
        session_key: sessionKeySchema.optional().describe('The session that gave it'),
        status: z.enum(WORK_STATUSES).optional(),
      },
    }),
    getDelegation: {
      ...show({ scope: 'read', summary: 'Get a delegation with its result and what its gates found' }),
      answer: delegationDetailSchema,
    },
    stopDelegation: action('stop')({
      ...stop,
      summary: 'Stop a delegation',
      description: 'Who gave the work is told that it was cancelled.',
      answer: workStopReceiptSchema,
    }),
  }),
);

export const evaluations = defineResource(
  {
    path: '/v1/evaluations',
    tag: 'delegations',
    item: evaluationSchema,
    ...byId,
    missing: 'There is no evaluate loop with this id',
  },
  ({ list, show, action }) => ({
    listEvaluations: list({
      scope: 'read',
      summary: 'List evaluate loops, newest first',
      query: {
        session_key: sessionKeySchema.optional().describe('The session that began it'),
        status: z.enum(EVALUATION_STATUSES).optional(),
      },
    }),
    getEvaluation: {
      ...show({ scope: 'read', summary: 'Get an evaluate loop with all its drafts and verdicts' }),
      answer: evaluationDetailSchema,
    },
    stopEvaluation: action('stop')({
      ...stop,
      summary: 'Stop an evaluate loop',
      description: 'The turn that waits for it goes on with what it has.',
      answer: evaluationStopReceiptSchema,
    }),
  }),
);

/** Subagents of a session are listed below it. */
export const subagents = defineResource(
  {
    path: '/v1/subagents',
    tag: 'subagents',
    item: subagentSchema,
    ...byId,
    missing: 'There is no subagent with this id',
  },
  ({ show, action }) => ({
    getSubagent: show({ scope: 'read', summary: 'Get a subagent with its result' }),
    stopSubagent: action('stop')({
      ...stop,
      summary: 'Stop a subagent',
      description: 'Its parent is told that it was cancelled.',
      answer: workStopReceiptSchema,
    }),
    steerSubagent: action('steer')({
      ...stop,
      summary: 'End a subagent and start it again with another message',
      description:
        'The replacement has the old one’s place, rights and depth; only its own end is told to the parent.',
      body: subagentSteerSchema,
      answer: subagentSteerReceiptSchema,
    }),
  }),
);
