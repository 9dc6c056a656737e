/**
 * `follow: user`: the user's message is itself the script. Lines of `tool_name {json}` are calls, other lines are text,
 * and a line `then` starts the next step. So a test or a person can request any sequence of tools without a file.
 */
import { type RequestedCall, readArguments } from './requested-call.ts';
import type { Facts } from './rehearsal-facts.ts';

/** What the `step`-th part of the message requests; after the last part the answer is the newest result, or `Done.`. */
export function followUser({ user, step, result }: Facts['values']): {
  text: string;
  calls: RequestedCall[];
} {
  const part = String(user).split(/^[ \t]*then[ \t]*$/im)[Number(step)];
  if (part === undefined) return { text: String(result) || 'Done.', calls: [] };
  const calls: RequestedCall[] = [];
  const lines: string[] = [];
  for (const line of part.split('\n')) {
    const found = /^\s*([A-Za-z][\w.-]{0,127})\s+(\{.*)$/.exec(line);
    if (found?.[1] && found[2]) calls.push({ name: found[1], ...readArguments(found[2].trim()) });
    else if (line.trim()) lines.push(line.trim());
  }
  return { text: lines.join('\n') || (calls.length > 0 ? '' : 'Done.'), calls };
}
