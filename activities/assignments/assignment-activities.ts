/** The activities of assignments, and the services by which tools delegate and stop work. */
import type { AssignmentActivities } from '#domain/assignment/assignment.ts';
import type { AssignmentEnds } from '#domain/feature.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { AGENT_TURN, type StopInput } from '#domain/turn/turn.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findOpenTurn } from '#store/turns/turn-store.ts';
import type { Models } from '../model/model-catalog.ts';
import type { EndCommands } from '../process/end-commands.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import { type AgentLinkDeps, type AgentLinks, createAgentLinks } from './agent-links.ts';
import { type AssignmentRunDeps, createAssignmentActivities } from './assignment-run.ts';
import { type Assignments, createAssignments } from './assignments.ts';
import type { AssignmentDeps, SubagentSettings } from './take-place.ts';

export interface AssignmentTools {
  /** Work that the caller gives to agents: its own subagents, and other agents. */
  readonly assignments: Assignments;
  /** The agents that it may delegate to. */
  readonly agentLinks: AgentLinks;
}

type PassedOn = Pick<AssignmentDeps, 'reach' | 'files' | 'workspaceOf' | 'lost'> &
  Pick<AssignmentRunDeps, 'wake'> &
  Pick<AgentLinkDeps, 'embed'> & { readonly models: Pick<Models, 'problem'> };

export interface AssignmentParts extends ActivityDeps, PassedOn {
  readonly subagents: Omit<SubagentSettings, 'modelProblem'>;
  readonly endCommands: EndCommands;
  readonly assignmentEnds: AssignmentEnds;
}

export function createAssignmentParts(parts: AssignmentParts): {
  readonly activities: AssignmentActivities;
  readonly tools: AssignmentTools;
} {
  const { models, subagents } = parts;
  const links = createAgentLinks(parts);
  const assignments = createAssignments({
    ...parts,
    links,
    subagents: { ...subagents, modelProblem: models.problem },
  });
  return {
    activities: createAssignmentActivities({
      ...parts,
      limits: subagents,
      stopSession: createStopSession(parts, assignments),
    }),
    tools: { assignments, agentLinks: links },
  };
}

/**
 * Ends a session's turn, when one runs besides its workflow, its background commands, and the work it has given away.
 */
function createStopSession(
  { pool, reach, endCommands }: AssignmentParts,
  assignments: Pick<Assignments, 'stopAll'>,
) {
  return async (tenant: string, session: string, by: string): Promise<void> => {
    const turn = await findOpenTurn(forTenant(pool, tenant), session);
    if (turn) {
      const stop: StopInput = { level: 'all', turn_id: turn.id, by };
      await reach.signal(sessionWorkflowId(tenant, session), AGENT_TURN.signals.stop, stop);
    }
    await Promise.all([
      // The end of a running turn does this.
      turn ? undefined : endCommands(tenant, session),
      assignments.stopAll(tenant, session, by),
    ]);
  };
}
