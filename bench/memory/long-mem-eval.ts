/**
 * Reads LongMemEval (arXiv 2410.10813), for those who have its data: each question with the sessions that contain its
 * answer.
 */
import { z } from 'zod';
import type { QuestionRun } from './measure-recall.ts';
import type { RecallDocument } from './recall-set.ts';

/** The fields of `longmemeval_s.json` that say which sessions have the answer. */
const instancesSchema = z.array(
  z.object({
    question_id: z.string(),
    question: z.string(),
    haystack_session_ids: z.array(z.string()),
    haystack_sessions: z.array(z.array(z.object({ role: z.string(), content: z.string() }))),
    answer_session_ids: z.array(z.string()),
  }),
);

export interface LongMemEvalQuestion extends QuestionRun {
  readonly id: string;
  readonly documents: readonly RecallDocument[];
}

/** Omits questions that have no answer (`_abs`). Throws if the file has another form. */
export function readLongMemEval(json: string): readonly LongMemEvalQuestion[] {
  return instancesSchema
    .parse(JSON.parse(json))
    .filter(({ question_id }) => !question_id.endsWith('_abs'))
    .map((instance) => ({
      id: instance.question_id,
      text: instance.question,
      evidence: instance.answer_session_ids.map(pathOf),
      documents: instance.haystack_sessions.map((turns, at) => ({
        path: pathOf(instance.haystack_session_ids[at] ?? String(at)),
        text: turns.map(({ role, content }) => `${role}: ${content}`).join('\n\n'),
      })),
    }));
}

function pathOf(session: string): string {
  return `memory/${session.replace(/[^\w-]/g, '_')}.md`;
}
