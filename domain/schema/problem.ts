/** The form of every refusal: application/problem+json (RFC 9457) with a stable `code`. */
import { z } from 'zod';
import { FAILURES, type FailureType } from '../errors.ts';

const codes = Object.keys(FAILURES) as [FailureType, ...FailureType[]];

export const problemSchema = z
  .looseObject({
    type: z.string().describe('Address of the words about this code'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().describe('The path that was asked for'),
    code: z.enum(codes),
    request_id: z.string(),
    retryable: z.boolean().describe('The same request may succeed later'),
    errors: z
      .array(z.object({ pointer: z.string(), message: z.string() }))
      .optional()
      .describe('What is wrong where'),
  })
  .meta({
    examples: [
      {
        type: '/docs/errors#NotFound',
        title: FAILURES.NotFound.title,
        status: 404,
        detail: 'No turn with this id',
        instance: '/v1/turns/turn_1',
        code: 'NotFound',
        request_id: 'req_1',
        retryable: false,
      },
    ],
  });

export type Problem = z.infer<typeof problemSchema>;
