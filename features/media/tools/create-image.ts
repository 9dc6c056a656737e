/** create_image: makes a picture from words. */
import { z } from 'zod';
import type { MakingTools } from '../making/media-making-tools.ts';
import { IMAGE_RATIOS } from '../contract.ts';
import { defineTool } from '#policy/define-tool.ts';
import { filenameHint, MAKING, promptOf } from '../making/making-tool.ts';

const input = z.object({
  prompt: promptOf(5_000).describe('What the picture shows, in what style'),
  aspect_ratio: z.enum(IMAGE_RATIOS).default('1:1').describe('Width to height'),
  filename_hint: filenameHint,
});

export const tool = defineTool<z.infer<typeof input>, MakingTools>({
  ...MAKING,
  name: 'create_image',
  description:
    'Make a picture from a description. It becomes a file of the workspace and is shown to the user, and to you if you see pictures. It costs money: make what was asked for.',
  keywords:
    'draw paint illustration photo logo icon art graphic poster sketch generate produce design render cartoon portrait landscape banner cover wallpaper avatar mockup visual picture cat dog artwork sticker',
  input,
  aliases: { image: {} },
  summary: ({ prompt }) => prompt.slice(0, 300),
  run: ({ making }, { prompt, aspect_ratio: ratio, filename_hint }, call) =>
    making.make(call, { request: { kind: 'image', prompt, ratio }, filename_hint }),
});
