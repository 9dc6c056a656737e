/** Texts about subagents that models read, in the terms of GoClaw's prompts (SA-*). */
import { ANNOUNCE, type AssignmentStatus, cutResult, labelOfTask } from './assignment.ts';

/** A subagent as its parent reads it. */
export interface ShownSubagent {
  readonly id: string;
  readonly label: string;
  readonly status: AssignmentStatus;
  readonly result: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly iterations: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

/** Characters of one result in a message with several; action=get returns the whole. */
const RESULT_OF_SEVERAL = 4_000;
const RESULT_OF_ONE = 32_000;
const LABEL = 50;

export function labelOf(task: string): string {
  return labelOfTask(task, LABEL, 'subagent');
}

export function isActive({ status }: Pick<ShownSubagent, 'status'>): boolean {
  return status === 'queued' || status === 'running';
}

/** The message that wakes the parent. `roster` contains all its subagents that are not archived, newest first. */
export function announcementText(
  ended: readonly ShownSubagent[],
  roster: readonly ShownSubagent[],
  maxChildren: number,
): string {
  const [first] = ended;
  const head =
    ended.length === 1 && first
      ? `[System Message] A subagent task "${first.label}" ${endOfOne(first)}\n\nResult:\n${resultOf(first, RESULT_OF_ONE)}\n\nStats: runtime ${runtimeOf(first)}, iterations ${first.iterations}, tokens ${first.input_tokens} in / ${first.output_tokens} out`
      : `[System Message] Multiple subagent tasks completed:\n\n${taskBlocks(ended)}`;
  return `${head}\n\n${rosterText(roster, maxChildren)}\n\n${replyWords(roster.filter(isActive).length)}`;
}

/** One block for each subagent, in the announcement of several and in the answer to action=wait. */
export function taskBlocks(ended: readonly ShownSubagent[]): string {
  const blocks = ended.map((one, index) => {
    const stats = `runtime ${runtimeOf(one)}, iterations ${one.iterations}, tokens ${one.input_tokens}/${one.output_tokens}`;
    return `---\nTask #${index + 1}: "${one.label}" ${endWord(one)} (${stats})\nResult: ${resultOf(one, RESULT_OF_SEVERAL)}`;
  });
  return `${blocks.join('\n')}\n---`;
}

export function rosterText(roster: readonly ShownSubagent[], maxChildren: number): string {
  const width = Math.max(...roster.map(({ status }) => status.length), 'completed'.length);
  const shown = roster
    .slice(0, ANNOUNCE.max)
    .map(({ status, label }) => `[${status.padEnd(width)}]  ${label}`);
  return [`Subagent roster (${roster.length} spawned, max ${maxChildren} per agent):`, ...shown].join('\n');
}

/** The result of the call that waited for a subagent. */
export function syncResultText(one: ShownSubagent, result: string): string {
  return `Subagent '${one.label}' completed in ${one.iterations} iterations.\n\nFull result:\n${result}`;
}

export function runtimeOf({ created_at, started_at, ended_at }: ShownSubagent): string {
  if (ended_at === null) return 'not ended';
  const seconds = (Date.parse(ended_at) - Date.parse(started_at ?? created_at)) / 1000;
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)}s`;
  if (seconds < 120) return `${Math.round(seconds)}s`;
  return `${Math.floor(seconds / 60)}m${Math.round(seconds % 60)}s`;
}

export function reasonOf({ error, status }: ShownSubagent): string {
  if (error) return `${error.code}: ${error.message}`;
  return status === 'timeout' ? 'its time was up' : 'no reason is known';
}

const END_WORDS: Readonly<Partial<Record<AssignmentStatus, string>>> = {
  completed: 'completed',
  timeout: 'timed out',
};

function endWord(one: ShownSubagent): string {
  if (one.status === 'cancelled') return `was cancelled${one.error ? `: ${one.error.message}` : ''}`;
  return END_WORDS[one.status] ?? `failed: ${reasonOf(one)}`;
}

/** The end of one subagent, as a sentence goes on after its name. */
function endOfOne(one: ShownSubagent): string {
  if (one.status === 'completed') return 'just completed successfully.';
  const words = one.status === 'cancelled' ? endWord(one) : `just ${endWord(one)}`;
  return one.error ? words : `${words}.`;
}

function resultOf(one: ShownSubagent, max: number): string {
  return cutResult(one, max, `spawn with action=get and id=${one.id}`);
}

function replyWords(running: number): string {
  if (running > 0)
    return `${running} subagent(s) still running. Their results will reach you by themselves: do not wait or poll. If you need them before you can answer, reply with exactly NO_REPLY.`;
  return 'Tell the user what came of it, in your own words and as your own work; leave out these notes. If there is nothing new to tell, reply with exactly NO_REPLY.';
}
