/** create_video: makes a video from words, or from a picture and words. */
import { z } from 'zod';
import type { MakingTools } from '../making/media-making-tools.ts';
import { filenameHint, MAKING, promptOf } from '../making/making-tool.ts';
import { defineTool } from '#policy/define-tool.ts';

const input = z.object({
  prompt: promptOf(5_000).describe('What happens, how it looks and sounds'),
  duration: z.literal([4, 6, 8]).default(8).describe('Seconds: 4, 6 or 8'),
  aspect_ratio: z.enum(['16:9', '9:16']).default('16:9').describe('Width to height; a picture has its own'),
  filename_hint: filenameHint,
  image_path: z
    .string()
    .min(1)
    .max(8_192)
    .optional()
    .describe(
      'A PNG, JPEG or WebP that the video begins with: artifact:ID, a path of the workspace, or an address',
    ),
});

export const tool = defineTool<z.infer<typeof input>, MakingTools>({
  ...MAKING,
  name: 'create_video',
  description:
    'Make a video of some seconds from a description, or from a picture and a description. It becomes a file of the workspace. It takes minutes and costs money: make what was asked for.',
  keywords:
    'film movie clip animate animation animated generate produce record trailer photo beach scene seconds short reel footage gif cinematic',
  input,
  summary: ({ prompt, duration }) => `${duration} s: ${prompt}`.slice(0, 300),
  run: ({ making }, { prompt, duration: seconds, aspect_ratio: ratio, filename_hint, image_path }, call) =>
    making.make(call, { request: { kind: 'video', prompt, seconds, ratio }, filename_hint, image_path }),
});
