/** What the tools that make media have in common. */
import { z } from 'zod';

/** `verify`: an order is recorded, and searched for before anything is ordered again. */
export const MAKING = {
  group: 'media_gen',
  replay: 'verify',
  mayContinueOutside: true,
  limits: { duration: 'long', timeoutSeconds: 360 },
} as const;

export const filenameHint = z
  .string()
  .trim()
  .max(100)
  .optional()
  .describe('A word or two for the name of the file');

export const promptOf = (max: number) => z.string().trim().min(1).max(max);
