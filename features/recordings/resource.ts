/** DU-6: recordings of sessions, and sessions that replay them. */
import { z } from 'zod';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { idSchema, nameSchema, sessionKeySchema, timeSchema } from '#domain/schema/scalars.ts';
import {
  differenceSchema,
  MAX_RECORDING_BYTES,
  recordingSchema,
  REPLAY_MODES,
  scriptSchema,
  whatIfSchema,
} from './schema.ts';

const replaySchema = z.object({
  id: idSchema,
  session_key: sessionKeySchema,
  agent: nameSchema,
  mode: z
    .enum(REPLAY_MODES)
    .describe(
      '`compare`: ends at the first difference; `record`: notes what models are asked; `live`: models answer themselves, and their calls are compared; `script`: models answer themselves, and calls are answered by a script; `what-if`: another agent or policy decides, and what differs is noted',
    ),
  difference: differenceSchema.nullable().describe('The first one; the turn ends there, except in a what-if'),
  created_at: timeSchema,
});

const partsSchema = z.record(z.string(), z.unknown());

export const replays = defineResource(
  {
    path: '/v1/replays',
    tag: 'recordings',
    item: replaySchema,
    key: 'id',
    missing: 'There is no replay with this id',
  },
  ({ show, create }) => ({
    getRecording: operation({
      method: 'GET',
      path: '/v1/sessions/:key/recording',
      params: z.object({ key: sessionKeySchema }),
      scope: 'read',
      summary: 'Get the recording of a session',
      description:
        'What its models, tools and people have answered, scrubbed. What the models were asked is added by a replay with the mode `record`.',
      answer: recordingSchema,
      refuses: ['Unprocessable', 'TooLarge'],
      command: { by: 'record' },
    }),
    createReplay: create({
      scope: 'admin',
      summary: 'Open a session that replays a recording or follows a script',
      description:
        'Send it the messages of the recording, one after the other. In such a session no tool runs and nobody is asked; with a recording no model is called either, except in the modes `live` and `what-if`. A turn that asks for what is not there fails with NotRecorded, one that differs with RecordingDiffers. In a what-if it goes on: a call that the recording does not have is answered by an error.',
      maxBytes: MAX_RECORDING_BYTES,
      body: z
        .union([
          z.strictObject({ mode: z.enum(['compare', 'record', 'live']), recording: recordingSchema }),
          z.strictObject({ mode: z.literal('script'), script: scriptSchema }),
          z.strictObject({ mode: z.literal('what-if'), recording: recordingSchema, change: whatIfSchema }),
        ])
        .meta({ examples: [{ mode: 'script', script: { agent: 'main', tools: {} } }] }),
      refuses: ['NotFound', 'Unprocessable'],
      command: { by: 'test' },
    }),
    getReplay: show({
      scope: 'read',
      summary: 'Get a replay',
      answer: replaySchema.extend({
        parts: partsSchema.describe(
          'What the model was asked at each step (`TURN.STEP`), and the texts it names',
        ),
      }),
      command: { by: 'test' },
    }),
  }),
);
