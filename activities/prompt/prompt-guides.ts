/** Files of the prompt that follow from what the agent is linked to: TEAM.md (TE-1) and DELEGATION.md (DE-3). */
import type { OfferedTool } from '#domain/model.ts';
import { teamText } from '#domain/team/words.ts';
import type { AgentLinks } from '#activities/assignments/agent-links.ts';
import type { StepBasis } from '#store/turn-ledger.ts';

/** Asks nothing of an agent without links, or without the tool. */
export async function promptGuides(
  guide: AgentLinks['guide'],
  tenant: string,
  { leads, links, user, context, agent_key: agent }: StepBasis,
  tools: readonly OfferedTool[],
): Promise<readonly string[]> {
  const guides = leads ? [teamText(leads)] : [];
  if (!links || !tools.some(({ name }) => name === 'delegate')) return guides;
  const text = await guide({ tenant, agent, user, roles: context.roles ?? [] });
  return text === undefined ? guides : [...guides, text];
}
