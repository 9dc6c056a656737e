/** Quality gates on the wire (DE-6). A gate that could never run is refused when it is written. */
import { z } from 'zod';
import { GATE_EVENTS, GATE_LIMITS, GATE_TYPES, gateProblem } from '../gate/gate.ts';
import { nameSchema, textSchema } from './scalars.ts';

export const gateSchema = z
  .strictObject({
    event: z.enum(GATE_EVENTS),
    type: z.enum(GATE_TYPES),
    command: textSchema(GATE_LIMITS.command)
      .optional()
      .describe('Gets the work on standard input; exit 0 passes, stderr is the feedback'),
    /** Key of the evaluating agent. */
    agent: nameSchema.optional().describe('Answers APPROVED, or REJECTED: and what must be changed'),
    /** What an evaluating agent has to check. */
    criteria: textSchema(4_000).optional(),
    block_on_failure: z.boolean().optional(),
    max_retries: z.int().min(0).max(GATE_LIMITS.retries).optional(),
    timeout_seconds: z.int().min(1).max(GATE_LIMITS.maxSeconds).optional(),
  })
  .superRefine((gate, context) => {
    const message = gateProblem(gate);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
