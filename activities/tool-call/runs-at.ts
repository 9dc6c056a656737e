/** What people read about where a call's command runs (SH-6). */
import type { CommandPlace } from '@tempoclaw/shell-judge';
import type { Wall } from '@tempoclaw/sandbox/settings';
import type { RecordedTerms } from '#domain/approval/approval-terms.ts';
import { RUNS_AT_PLACE } from '#domain/sandbox.ts';
import { isOfClient } from '#policy/client-tools.ts';
import { isCommand } from '#policy/exec-rules.ts';
import type { Tool } from '#policy/define-tool.ts';

/** Where the call's command would run, if it has one. Programs with credentials always run on this machine. */
export function runsOf(
  wall: Wall,
  tool: Tool,
  place: CommandPlace,
): Pick<RecordedTerms, 'runs' | 'client_tool'> {
  if (isOfClient(tool)) return { client_tool: true };
  if (tool.name === 'credentialed_exec')
    return { runs: wall === 'files and network' ? 'walled_host' : 'host' };
  return runsCommand(tool) ? { runs: RUNS_AT_PLACE[place] } : {};
}

/** Whether the place of an agent's commands affects the tool. */
export function runsCommand({ name, group }: Tool): boolean {
  return isCommand(name) || group === 'custom';
}
