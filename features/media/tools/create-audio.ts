/** create_audio: makes music or a sound effect from words. */
import { z } from 'zod';
import type { MakingTools } from '../making/media-making-tools.ts';
import { filenameHint, MAKING, promptOf } from '../making/making-tool.ts';
import { toolError } from '#domain/tool.ts';
import { defineTool } from '#policy/define-tool.ts';

const input = z.object({
  prompt: promptOf(2_000).describe('What it sounds like: style, mood, instruments, or the sound itself'),
  type: z.enum(['music', 'sound_effect']).default('music').describe('What to make'),
  duration: z
    .number()
    .int()
    .min(1)
    .max(30)
    .optional()
    .describe('Seconds of a sound effect; music is as long as its lyrics make it'),
  lyrics: z
    .string()
    .max(3_500)
    .optional()
    .describe('Of music: what is sung, with [Verse] and [Chorus]; without it nobody sings'),
  instrumental: z.boolean().default(false).describe('Of music: nobody sings'),
  filename_hint: filenameHint,
});

export const tool = defineTool<z.infer<typeof input>, MakingTools>({
  ...MAKING,
  name: 'create_audio',
  description:
    'Make music or a sound effect from a description. It becomes an MP3 of the workspace. It costs money: make what was asked for.',
  keywords:
    'song melody tune compose soundtrack jingle beat noise generate produce background ad ringtone instrument piano guitar lyrics soundscape rain effect theme',
  input,
  summary: ({ type, prompt }) => `${type}: ${prompt}`.slice(0, 300),
  async run(
    { making },
    { prompt, type: kind, duration: seconds, lyrics, instrumental, filename_hint },
    call,
  ) {
    if (kind === 'music' && seconds !== undefined)
      return toolError(
        'InvalidArgs',
        'duration: music has none to choose; say in the prompt how long it is to be',
      );
    return making.make(call, { request: { kind, prompt, seconds, lyrics, instrumental }, filename_hint });
  },
});
