/** What tools answer in an eval. */
import { hostOfEval } from './host.ts';

/** An answer of a tool. Without `args` it is for any arguments. */
export interface ToolAnswer {
  readonly text: string;
  /** Only for a call with exactly these arguments. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** The call fails with this code, such as `Timeout` or `OutcomeUnknown`. */
  readonly code?: string;
  /** How often it is given; 1 unless set, null for always. */
  readonly times?: number | null;
}

/** A text is given always; of several answers each is given in its turn. */
export type ToolScript = string | readonly ToolAnswer[];

/** Each call gets the next answer. A call after the last one fails the turn, and nothing runs. */
export function scripted(answers: readonly (string | ToolAnswer)[]): readonly ToolAnswer[] {
  return answers.map((answer) => (typeof answer === 'string' ? { text: answer } : answer));
}

/** Each call fails. `code` is one that tools have, such as `Timeout`, `ExecutionFailed` or `OutcomeUnknown`. */
export function fails(message: string, code = 'ExecutionFailed'): readonly ToolAnswer[] {
  return [{ text: message, code, times: null }];
}

/**
 * The tools of a recording: a call with the arguments of a recorded one gets its result. `path` is relative to the
 * folder of the agents. @throws Error when it cannot be read
 */
export function recorded(path: string): Readonly<Record<string, readonly ToolAnswer[]>> {
  const tools: Record<string, ToolAnswer[]> = {};
  for (const { steps } of hostOfEval().readRecording(path).turns)
    for (const { calls } of steps)
      for (const { tool, args, code, result } of calls) {
        const text = code === null ? result : result.replace(`${code}: `, '');
        (tools[tool] ??= []).push({ args, text, ...(code !== null && { code }) });
      }
  return tools;
}

export function answersOf(script: ToolScript): readonly ToolAnswer[] {
  return typeof script === 'string' ? [{ text: script, times: null }] : script;
}
