/** Teams (TE-1): their leads, members and settings. */
import { z } from 'zod';
import { isName } from '../ids.ts';
import { labelSchema, nameSchema, textSchema, timeSchema } from '../schema/scalars.ts';
import { taskEventSchema } from '../schema/team-task.ts';
import { TEAM_LIMITS } from '../team/team.ts';
import { defineResource } from './define-resource.ts';

const idsSchema = z.array(labelSchema).max(1_000);

export const teamSettingsSchema = z.strictObject({
  allow_user_ids: idsSchema.optional().describe('Only these users bring work to the team; empty: all'),
  deny_user_ids: idsSchema.optional(),
  allow_channels: idsSchema.optional(),
  deny_channels: idsSchema.optional(),
  progress_notifications: z
    .boolean()
    .optional()
    .describe('The lead hears of each result at once; else of all of a request together'),
  member_broadcast: z.boolean().optional().describe('Members, too, may write to all at once'),
  delegation_tasks: z.boolean().optional().describe('False: what the lead delegates to a member is no task'),
  blocker_escalation: z.strictObject({ enabled: z.boolean().optional() }).optional(),
  lease_seconds: z.int().min(1).max(TEAM_LIMITS.longestLeaseSeconds).optional(),
  /** Minutes between reminders of a question to the user, and the number of reminders. */
  reminder_minutes: z.number().positive().max(10_080).optional(),
  reminders: z.int().min(0).max(100).optional(),
});

const membersSchema = z.array(nameSchema).max(TEAM_LIMITS.members);
const wordsSchema = textSchema(10_000).nullable();

const createSchema = z
  .strictObject({
    key: nameSchema,
    lead: nameSchema.describe('Key of an agent'),
    members: membersSchema.describe('Keys of agents, without the lead'),
    name: labelSchema.nullable().optional(),
    description: wordsSchema.optional(),
    settings: teamSettingsSchema.optional(),
  })
  .meta({ examples: [{ key: 'report', lead: 'main', members: ['writer', 'researcher'] }] });

export const teamChangeSchema = z
  .strictObject({
    lead: nameSchema.optional(),
    members: membersSchema.optional().describe('All members from now on'),
    name: labelSchema.nullable().optional(),
    description: wordsSchema.optional(),
    settings: teamSettingsSchema.optional().describe('All settings from now on'),
  })
  .meta({ examples: [{ members: ['writer'] }] });

const itemSchema = z.object({
  key: nameSchema,
  name: z.string().nullable(),
  description: z.string().nullable(),
  lead: nameSchema,
  members: z.array(nameSchema),
  settings: z.record(z.string(), z.unknown()),
  created_at: timeSchema,
  updated_at: timeSchema,
});

const flags = {
  lead: ['--lead <agent>', 'who leads it'],
  members: ['--members <agents>', 'keys of agents, with commas between them'],
  name: ['--name <text>', 'a name for people'],
  description: ['--description <text>', 'what it is for'],
  settings: ['--settings <json>', 'such as {"progress_notifications":true}'],
} as const;

export const teams = defineResource(
  {
    path: '/v1/teams',
    tag: 'teams',
    item: itemSchema,
    key: 'team',
    field: 'key',
    isKey: isName,
    isDefinition: true,
    missing: 'There is no team with this key',
  },
  ({ list, listOf, show, create, change, remove }) => ({
    listTeams: list({
      scope: 'read',
      summary: 'List teams by key',
      command: {
        help: 'all teams',
        columns: { team: 'key', lead: 'lead', members: { flexible: (team) => team.members.join(', ') } },
        nothing: 'No teams.',
      },
    }),
    getTeam: show({
      scope: 'read',
      summary: 'Get a team',
      command: {
        help: 'one team',
        fields: ({ members, settings, ...fields }) => ({
          ...fields,
          members: members.join(', '),
          settings: JSON.stringify(settings),
        }),
      },
    }),
    createTeam: create({
      scope: 'admin',
      summary: 'Make a team',
      body: createSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'create',
        help: 'make a team',
        arguments: ['team'],
        flags: { ...flags, lead: ['--lead <agent>', 'who leads it', { required: true }] },
        sends: ({ team, lead = '', members = [], ...flags }) => ({ ...flags, key: team, lead, members }),
        says: ({ key, lead, members }) =>
          `team ${key} is made: ${lead} leads ${members.join(', ') || 'nobody yet'}`,
      },
    }),
    updateTeam: change({
      scope: 'admin',
      summary: 'Change a team',
      body: teamChangeSchema,
      refuses: ['Unprocessable'],
      command: {
        word: 'update',
        help: 'change a team; what is not given stays',
        flags,
        says: ({ key }) => `team ${key} is changed`,
      },
    }),
    listTeamEvents: listOf('events', taskEventSchema, {
      scope: 'read',
      summary: 'What was done to the tasks of a team, newest first',
      query: {
        task: z.coerce.number().int().min(1).optional().describe('Number of one task'),
      },
      command: {
        help: 'what was done to its tasks, newest first',
        flags: { task: ['--task <number>', 'only this task'] },
        columns: {
          task: (event) => `#${event.number}`,
          what: 'action',
          by: 'actor',
          status: 'status',
          reason: { flexible: (event) => event.reason ?? '' },
          when: { ago: 'at' },
        },
        nothing: 'Nothing was done yet.',
      },
    }),
    deleteTeam: remove({
      scope: 'admin',
      summary: 'Delete a team',
      description: 'Its tasks stay as rows; those that run go on to their end.',
      command: {
        word: 'delete',
        help: 'delete a team; its tasks stay as rows',
        says: (key) => `team ${key} is deleted`,
      },
    }),
  }),
);
