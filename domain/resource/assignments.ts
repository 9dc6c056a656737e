/** Work that agents gave to others: delegations (DE-2) and subagents (SA-*). */
import { z } from 'zod';
import { WORK_STATUSES } from '../assignment/assignment.ts';
import { isMessageId } from '../ids.ts';
import {
  delegationDetailSchema,
  delegationSchema,
  stopAssignmentSchema,
  subagentSchema,
  subagentSteerReceiptSchema,
  subagentSteerSchema,
  workStopReceiptSchema,
} from '../schema/assignment.ts';
import { nameSchema, sessionKeySchema } from '../schema/scalars.ts';
import { indent } from './command.ts';
import { defineResource } from './define-resource.ts';

export const byId = { key: 'id', isKey: isMessageId } as const;
export const stop = {
  scope: 'run',
  repeatable: true,
  status: 202,
  body: stopAssignmentSchema,
  refuses: ['Conflict'],
} as const;

export const stopCommand = (help: string) =>
  ({
    word: 'stop',
    help,
    flags: { reason: ['--reason <text>', 'why'] },
    says: ({ id }: { readonly id: string }) => `stop was sent to ${id}`,
  }) as const;

interface Shown {
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly links: { readonly temporal: string | null };
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
}

/** The fields of one as a person reads them; long texts are printed below. */
export function fieldsOf({ error, links, usage, ...fields }: Shown): object {
  return {
    ...fields,
    error: error && `${error.code}: ${error.message}`,
    tokens: usage && `${usage.input_tokens} in, ${usage.output_tokens} out`,
    temporal: links.temporal,
  };
}

function resultOf(result: string | null): readonly string[] {
  return result ? [`\n${indent(result)}`] : [];
}

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
      command: {
        help: 'newest first',
        flags: {
          source: ['--source <agent>', 'that gave it'],
          target: ['--target <agent>', 'that works on it'],
          session_key: ['--session <key>', 'in which it was given'],
          status: ['--status <status>', 'queued, running, completed, failed, cancelled or timeout'],
        },
        columns: {
          delegation: 'id',
          status: 'status',
          from: 'source',
          to: 'target',
          label: { flexible: 'label' },
          started: { ago: 'created_at' },
        },
        nothing: 'No delegations.',
      },
    }),
    getDelegation: show({
      scope: 'read',
      summary: 'Get a delegation with its result and what its gates found',
      answer: delegationDetailSchema,
      command: {
        help: 'one with its result and its gates',
        fields: ({ checks: _checks, warnings: _warnings, result: _result, ...one }) => fieldsOf(one),
        says: ({ checks, warnings, result }) =>
          [
            ...checks.map(
              ({ gate, attempt, kind, feedback }) =>
                `gate ${gate}, attempt ${attempt + 1}: ${kind}${feedback ? `: ${feedback}` : ''}`,
            ),
            ...warnings,
            ...resultOf(result),
          ].join('\n'),
      },
    }),
    stopDelegation: action('stop')({
      ...stop,
      summary: 'Stop a delegation',
      description: 'Who gave the work is told that it was cancelled.',
      answer: workStopReceiptSchema,
      command: stopCommand('end one; who gave the work is told'),
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
    getSubagent: show({
      scope: 'read',
      summary: 'Get a subagent with its result',
      command: {
        help: 'one with its result',
        fields: ({ result: _result, ...one }) => fieldsOf(one),
        says: ({ result }) => resultOf(result).join(''),
      },
    }),
    stopSubagent: action('stop')({
      ...stop,
      summary: 'Stop a subagent',
      description: 'Its parent is told that it was cancelled.',
      answer: workStopReceiptSchema,
      command: stopCommand('end one; its parent is told'),
    }),
    steerSubagent: action('steer')({
      ...stop,
      summary: 'End a subagent and start it again with another message',
      description:
        'The replacement has the old one’s place, rights and depth; only its own end is told to the parent.',
      body: subagentSteerSchema,
      answer: subagentSteerReceiptSchema,
      command: {
        word: 'steer',
        help: 'end one and start it again with another message',
        arguments: ['message'],
        says: ({ id, replaced_by }) => `${id} is replaced by ${replaced_by}`,
      },
    }),
  }),
);
