/**
 * Tools and files of a step's prompt: the tools that the rules offer, its context files, and files generated from the
 * agent's links and teams.
 */
import type { WorkerPart } from '#domain/feature.ts';
import type { OfferedTool } from '#domain/model/model.ts';
import { OUTSIDE_TEXT_GUIDE } from '#domain/text/outside-text.ts';
import type { ToolGroup } from '#domain/policy/tool-groups.ts';
import { teamText } from '#domain/team/words.ts';
import type { CallRules } from '#policy/call-rules.ts';
import { deferredGuide, promptTools } from '#policy/deferred-tools.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import type { AgentLinks } from '../assignments/agent-links.ts';
import type { Step } from '../turn/step.ts';
import type { ContextFiles } from './context-files.ts';
import type { Transcript } from './transcript-cache.ts';

export interface PromptPartsDeps {
  readonly rules: Pick<CallRules, 'offered' | 'outside'>;
  readonly scrubber: Scrubber;
  readonly guide: AgentLinks['guide'];
  readonly contextFiles: ContextFiles;
  /** Pieces of features. */
  readonly promptPieces: readonly NonNullable<WorkerPart['promptPiece']>[];
}

export interface PromptParts {
  /** The tools as the model sees them. */
  readonly tools: readonly OfferedTool[];
  readonly guides: readonly string[];
}

/** `window`: tokens of the model's window. */
export async function promptParts(
  deps: PromptPartsDeps,
  step: Step,
  transcript: Transcript,
  window: number,
): Promise<PromptParts> {
  const { tenant, agent, catalog } = step;
  const offered = deps.rules.offered(step, catalog);
  const pieces = await Promise.all(deps.promptPieces.map((piece) => piece({ ...step, offered })));
  const unneeded = new Set(pieces.flatMap((piece) => piece?.unneeded ?? []));
  const useful = offered.filter((name) => !unneeded.has(name));
  const dialect = agent.tool_names ?? 'canonical';
  const messages = transcript.rows.flatMap((row) => row.messages);
  const split = promptTools(catalog, useful, { groups: groupsOf(step), dialect, messages });
  const tools = catalog.offer(dialect, split.described);
  const files = await deps.contextFiles(tenant, agent, step, window);
  const texts = [files, ...pieces.map((piece) => piece?.text)];
  const guides = texts.flatMap((text) => (text === undefined ? [] : [deps.scrubber.text(text)]));
  guides.push(...(await generatedGuides(deps, step, tools)));
  const deferred = deferredGuide(catalog, split, dialect);
  return { tools, guides: deferred === undefined ? guides : [...guides, deferred] };
}

/** What the turn is about, besides its message. */
function groupsOf({ leads, links, context }: Step): readonly ToolGroup[] {
  return [
    ...(leads || context.team ? (['teams'] as const) : []),
    ...(links ? (['delegation'] as const) : []),
    ...(context.channel === undefined ? [] : (['messaging'] as const)),
  ];
}

/**
 * TEAM.md (TE-1), the explanation of markers (SC-4), DELEGATION.md (DE-3). Without links, or without the tool, it makes
 * no query.
 */
async function generatedGuides(
  { guide }: PromptPartsDeps,
  { tenant, leads, links, user, context, agent_key: agent }: Step,
  tools: readonly OfferedTool[],
): Promise<readonly string[]> {
  const guides = leads ? [teamText(leads)] : [];
  // Strangers may write in a channel.
  if (context.channel !== undefined || tools.some(({ outside }) => outside)) guides.push(OUTSIDE_TEXT_GUIDE);
  if (!links || !tools.some(({ name }) => name === 'delegate')) return guides;
  const text = await guide({ tenant, agent, user, roles: context.roles ?? [] });
  return text === undefined ? guides : [...guides, text];
}
