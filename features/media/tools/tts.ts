/** tts: speaks text with a voice. */
import { z } from 'zod';
import type { MakingTools } from '../making/media-making-tools.ts';
import { MAKING, promptOf } from '../making/making-tool.ts';
import { defineTool } from '#policy/define-tool.ts';

/** Names of providers in the settings that models know. */
const PROVIDERS = ['openai', 'elevenlabs', 'edge', 'minimax'] as const;

const input = z.object({
  text: promptOf(10_000).describe('What is said'),
  voice: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("A voice's name or id at the provider that is asked first; it has one of its own"),
  model: z
    .string()
    .regex(/^\S{1,200}$/, 'must be a name without spaces')
    .optional()
    .describe('A model of the provider that is asked first'),
  provider: z.enum(PROVIDERS).optional().describe('Asks this one alone, not those of the settings in turn'),
});

export const tool = defineTool<z.infer<typeof input>, MakingTools>({
  ...MAKING,
  name: 'tts',
  description:
    'Have a text spoken. The speech becomes an MP3 of the workspace. It may cost money: speak what was asked for.',
  keywords:
    'speak say voice aloud loud read out narrate audio pronounce text-to-speech audiobook article turn into convert hear listen spoken sound paragraph sentence text podcast reading human answer',
  input,
  summary: ({ text }) => text.slice(0, 300),
  run: ({ making }, { text, voice, model, provider }, call) =>
    making.make(call, { request: { kind: 'speech', prompt: text, voice }, model, provider }),
});
