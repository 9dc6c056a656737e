/** The tool that reverses the calls of another (DU-9). Its arguments are the call's, and what the call returned. */
import { z } from 'zod';
import { type CodeTool, tool, type ToolContext } from '../sdk/tool.ts';
import { textOf } from './output-text.ts';

export function undoToolName(name: string): string {
  return `undo_${name}`;
}

/** Undefined for a tool without `undo`. */
export function createUndoTool(name: string, reversed: CodeTool): CodeTool | undefined {
  const { undo, probe, replay, approval, outside, secrets, timeout } = reversed;
  if (!undo) return undefined;
  return tool({
    description: `Reverses a call of ${name}`,
    input: z.object({
      call: z.string().max(200).describe(`Id of the call of ${name}`),
      input: reversed.input.describe('Its arguments'),
      result: z
        .string()
        .optional()
        .describe('What it returned; absent when nobody knows whether it took effect'),
    }),
    replay,
    ...defined({ approval, outside, secrets, timeout }),
    async run({ call, input, result }, context) {
      const undoes = { ...context, call, idempotencyKey: keyOf(context, call) };
      const found = result ?? (await probe?.(input, undoes));
      if (found === undefined) return 'There is nothing to reverse: the call has not taken effect.';
      return undo(input, { ...context, undoes, result: textOf(found) });
    },
  });
}

/** Keys of calls end with their ids. */
function keyOf({ idempotencyKey, call }: ToolContext, other: string): string {
  return `${idempotencyKey.slice(0, -call.length)}${other}`;
}

type Defined<Fields> = { [Field in keyof Fields]?: NonNullable<Fields[Field]> };

function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<Fields>;
}
