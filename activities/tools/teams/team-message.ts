/** team_message: messages between the members of a team (TE-5); each message wakes its addressees once. */
import { z } from 'zod';
import { defineTool, type RunningCall, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import type { Membership, TeamService } from '#activities/teams/team-service.ts';
import { LEAD_ONLY } from '#domain/team/decision.ts';
import { roleIn, TEAM_LIMITS } from '#domain/team/team.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';

const input = z.object({
  action: z
    .enum(['send', 'broadcast', 'read'], {
      error: (issue) => `unknown action: ${String(issue.input)} (use send, broadcast, or read)`,
    })
    .describe(
      'send: to one teammate; broadcast: to all of them (the lead, and members where the team lets them); read: your unread messages',
    ),
  to: textField(64, 'send: key of the teammate').optional(),
  text: textField(TEAM_LIMITS.text, 'send, broadcast: what to say').optional(),
  team: textField(64, 'Which team, when you are in several').min(1).optional(),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'teams'>>({
  name: 'team_message',
  description:
    'Write to your teammates, or read what they wrote to you. For work use team_tasks: its results are kept.',
  keywords:
    'tell colleague teammate mate ask coworker inform broadcast mail chat inbox rest everyone group members all know news question',
  group: 'teams',
  // Messages have ids of the call; `read` is repeated only when its result was not recorded.
  replay: 'idempotent',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ action, to }) => (to === undefined ? action : `${action} ${to}`),
  refusedParameters: {
    media: 'media: team_message carries text alone; put files on a task with team_tasks, action attach',
  },
  run: async ({ teams }, { action, to, text, team: required }, call) => {
    const membership = await teams.membership(call, required);
    if (typeof membership === 'string') return toolError('PermissionDenied', membership);
    const { team } = membership;
    if (action === 'read') return read(teams, team.key, call);
    const words = text?.trim() ?? '';
    if (action === 'send' && (to ?? '') === '')
      return toolError('InvalidArgs', 'to parameter is required for send action');
    if (words === '' || words.includes('\0'))
      return toolError('InvalidArgs', `text parameter is required for ${action} action`);
    if (action === 'broadcast') return broadcast(teams, membership, words, call);
    const addressee = to ?? '';
    if (!roleIn(team, addressee))
      return toolError('NotFound', `agent "${addressee}" is not a member of your team`);
    if (addressee === call.agent) return toolError('InvalidArgs', 'that is you');
    await teams.send(call, membership, [addressee], words);
    return { ok: true, text: `Message sent to ${addressee}.` };
  },
});

async function broadcast(
  service: TeamService,
  membership: Membership,
  text: string,
  call: RunningCall,
): Promise<ToolResult> {
  const { team, role } = membership;
  if (role !== 'lead' && team.settings.member_broadcast !== true)
    return toolError('PermissionDenied', LEAD_ONLY);
  const others = [team.lead, ...team.members].filter((member) => member !== call.agent);
  await service.send(call, membership, others, text);
  return { ok: true, text: 'Broadcast sent to all teammates.' };
}

/** The same statement reads them and marks them as read. */
async function read(service: TeamService, team: string, call: RunningCall): Promise<ToolResult> {
  const { messages, left } = await service.read(call, team, TEAM_LIMITS.mailPage);
  const shown = messages.map(({ sender, text, created_at }) => ({
    from: sender,
    text,
    at: created_at.toISOString(),
  }));
  const answer = {
    messages: shown,
    count: shown.length,
    unread: left,
    has_more: left > 0 ? true : undefined,
  };
  return { ok: true, text: JSON.stringify(answer) };
}
