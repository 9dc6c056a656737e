/** The sandbox of an agent and of the settings on the wire: a mode alone, or an object. */
import { z } from 'zod';

export const SANDBOX_MODES = ['off', 'preferred', 'required'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** Who shares a sandbox: one session, one agent's sessions, or all sessions of a tenant with the same workspace. */
export const SANDBOX_SCOPES = ['session', 'agent', 'shared'] as const;
export type SandboxScope = (typeof SANDBOX_SCOPES)[number];

/** How the workspace appears at MOUNT. */
export const SANDBOX_WORKSPACES = ['rw', 'ro', 'none'] as const;

const image = z
  .string()
  .regex(/^[a-z0-9][\w./:@-]{0,254}$/, 'must be an image of the engine, such as tempoclaw-sandbox:latest');

/** A shell and a small program need 32 MiB; a terabyte is more than any intended machine has. */
const memory = z
  .string()
  .regex(/^\d{1,6}[mg]$/i, 'must be a number with m or g, such as 512m')
  .refine((text) => /g$/i.test(text) || Number.parseInt(text, 10) >= 32, 'must be 32m at least')
  .refine((text) => !/^0+g$/i.test(text), 'must be 32m at least');

export const sandboxFields = {
  mode: z.enum(SANDBOX_MODES).optional(),
  /** An image that the engine already has; images are never pulled. */
  image: image.optional(),
  scope: z.enum(SANDBOX_SCOPES).optional(),
  network: z.boolean().optional(),
  workspace: z.enum(SANDBOX_WORKSPACES).optional(),
  memory: memory.optional(),
  cpus: z.number().min(0.05).max(256).optional(),
  pids: z.int().min(16).max(32_768).optional(),
  /** gVisor's runtime, where the engine has it. */
  runtime: z.literal('runsc').optional(),
};

export const sandboxSettingsSchema = z.strictObject(sandboxFields);

export const sandboxSchema = z.union([z.enum(SANDBOX_MODES), sandboxSettingsSchema]);

/**
 * Limits for the commands of one workspace together, on the host. `processes` counts threads; `memory` defaults to half
 * of the machine's.
 */
export const commandBounds = z.strictObject({
  processes: z.int().min(64).max(1_000_000).default(2_048),
  memory: memory.exactOptional(),
  disk: memory.default('20g'),
});
