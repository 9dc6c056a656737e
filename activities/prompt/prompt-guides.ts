/** Parts of the prompt that follow from what the agent is linked to and may do: TEAM.md (TE-1), DELEGATION.md (DE-3), what markers mean (SC-4). */
import type { OfferedTool } from '#domain/model.ts';
import { OUTSIDE_TEXT_GUIDE } from '#domain/outside-text.ts';
import { teamText } from '#domain/team/words.ts';
import type { AgentLinks } from '#activities/assignments/agent-links.ts';
import type { StepBasis } from '#store/step-basis.ts';

/** Asks nothing of an agent without links, or without the tool. */
export async function promptGuides(
  guide: AgentLinks['guide'],
  tenant: string,
  { leads, links, user, context, agent_key: agent }: StepBasis,
  tools: readonly OfferedTool[],
): Promise<readonly string[]> {
  const guides = leads ? [teamText(leads)] : [];
  // Strangers may speak in a channel.
  if (context.channel !== undefined || tools.some(({ outside }) => outside)) guides.push(OUTSIDE_TEXT_GUIDE);
  if (!links || !tools.some(({ name }) => name === 'delegate')) return guides;
  const text = await guide({ tenant, agent, user, roles: context.roles ?? [] });
  return text === undefined ? guides : [...guides, text];
}
