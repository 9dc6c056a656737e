/** Links to canvases in the API. */
import { z } from 'zod';
import { CANVAS_LIMITS } from './contract.ts';
import { labelSchema, timeSchema } from '#domain/schema/scalars.ts';

export const canvasLinkCreateSchema = z
  .strictObject({
    user: labelSchema.optional().describe('Whose words the page’s messages are; a key of a user’s own'),
    seconds: z.int().min(60).max(CANVAS_LIMITS.linkSeconds).default(CANVAS_LIMITS.linkSeconds),
  })
  .meta({ examples: [{ seconds: 3600 }] });

export const canvasLinkSchema = z.object({ url: z.string(), expires_at: timeSchema });

/** A canvas as the steps that make it, of which the first shows a page. */
export const canvasSchema = z.object({
  version: z.int().describe('0 while nothing is shown'),
  steps: z.array(
    z.discriminatedUnion('do', [
      z.object({ do: z.literal('show'), html: z.string() }),
      z.object({ do: z.literal('update'), selector: z.string(), html: z.string() }),
      z.object({ do: z.literal('eval'), script: z.string() }),
    ]),
  ),
});

/** What the page of a link forwards for its frame. */
export const canvasEventSchema = z.strictObject({ data: z.json() });
