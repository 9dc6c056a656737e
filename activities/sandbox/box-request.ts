/** From a tool's call to the box that its command belongs in; nothing for an agent whose commands run on the host. */
import type { BoxRequest } from '#activities/process/shell.ts';
import type { RunningCall } from '#policy/define-tool.ts';

export function boxRequest(
  call: RunningCall,
  folder: { readonly inside: string },
  timeoutMs: number,
): { readonly box?: BoxRequest } {
  const { sandbox } = call;
  if (sandbox === undefined) return {};
  return { box: { sandbox, owner: call, inside: folder.inside, timeoutMs } };
}
