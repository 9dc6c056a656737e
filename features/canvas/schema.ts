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

/** What the page of a link forwards for its frame. */
export const canvasEventSchema = z.strictObject({ data: z.json() });
