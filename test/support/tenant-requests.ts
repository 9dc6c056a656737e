/** Requests that name the objects of a tenant, for each operation of the OpenAPI document. */
import type { TenantObjects } from './tenant-objects.ts';

export interface TenantRequests {
  /** The address of the operation with real objects in it; undefined when nothing is known for a parameter. */
  addressOf(operationId: string, path: string): string | undefined;
  /** The body for the operation; its own example when there is none here. */
  bodyOf(operationId: string): unknown;
  /** Whether the address names an object that is Ann's. */
  isOfAnn(path: string): boolean;
  /** Whether it names an object that another tenant does not have. */
  isOfTenant(path: string): boolean;
}

export function createTenantRequests(has: TenantObjects): TenantRequests {
  /** Values by the word before the parameter; a second one of the same address comes after it. */
  const of: Record<
    string,
    { readonly values: readonly string[]; readonly isAnns?: true; readonly isEverybodys?: true }
  > = {
    agents: { values: ['quokka'] },
    'agent-links': { values: [has.link] },
    'api-keys': { values: [has.key] },
    approvals: { values: [has.approval], isAnns: true },
    links: { values: [has.approvalLink] },
    artifacts: { values: [has.artifact], isAnns: true },
    delegations: { values: ['del_quokka'], isAnns: true },
    evaluations: { values: ['evl_quokka'], isAnns: true },
    subagents: { values: [has.subagent], isAnns: true },
    budgets: { values: [has.budget] },
    sessions: { values: [has.session], isAnns: true },
    channels: { values: ['quokka'] },
    people: { values: ['p1'] },
    custom: { values: [has.tool] },
    'exec-allowlist': { values: ['alw_quokka'], isAnns: true },
    explain: { values: ['tool'], isEverybodys: true },
    steps: { values: ['1'], isEverybodys: true },
    compare: { values: [has.turn], isAnns: true },
    users: { values: ['ann'], isAnns: true, isEverybodys: true },
    forgettings: { values: ['fgt_quokka'] },
    entities: { values: [has.entities[1] ?? ''], isAnns: true },
    relations: { values: [has.fact], isAnns: true },
    servers: { values: ['quokka'] },
    grants: { values: ['agent', 'quokka'] },
    'remote-agents': { values: ['quokka'] },
    freezes: { values: [has.freeze] },
    rollouts: { values: ['quokka-rolled'] },
    revisions: { values: ['1'], isEverybodys: true },
    'revisions/compare': { values: ['1'], isEverybodys: true },
    'guarded-calls': { values: ['gc_quokka'], isAnns: true },
    'tool-hosts': { values: ['quokka'] },
    requests: { values: [has.request], isAnns: true },
    nodes: { values: ['quokka'] },
    proposals: { values: [has.proposal] },
    replays: { values: [has.replay], isAnns: true },
    schedules: { values: [has.schedule], isAnns: true },
    secrets: { values: ['quokka'] },
    'secure-clis': { values: ['quokka'] },
    skills: { values: ['quokka'] },
    teams: { values: ['quokka'] },
    tasks: { values: [has.task] },
    'tasks/files': { values: [has.file] },
    builtin: { values: ['read_file'], isEverybodys: true },
    tools: { values: ['read_file'], isEverybodys: true },
    turns: { values: [has.turn], isAnns: true },
    'tool-calls': { values: [has.call], isAnns: true },
    images: { values: ['1'] },
    webhooks: { values: [has.webhook] },
    deliveries: { values: ['whd_quokka'] },
    codec: { values: ['none'], isEverybodys: true },
    files: { values: ['USER.md'] },
    workspace: { values: ['a.txt'] },
  };
  const member = { member: 'quokka-two' };
  const bodies: Record<string, unknown> = {
    createAgent: { key: 'quokka-new', model: 'rehearsal/follow' },
    encodePayloads: { payloads: [] },
    decodePayloads: { payloads: [] },
    createAgentLink: { source: 'quokka-two', target: 'quokka' },
    updateAgentLink: { max_concurrent: 3 },
    updateAgent: { instructions: 'x' },
    startRollout: { agent: 'quokka-two', change: { instructions: 'y' } },
    decideApproval: { decision: 'reject', reason: 'x' },
    decideApprovals: { ids: [has.approval], decision: 'reject', reason: 'x' },
    createApprovalLink: { for: 'ann' },
    createBudget: { scope: 'agent', subject: 'quokka', usd: 1, period: 'day' },
    updateBudget: { scope: 'agent', subject: 'quokka', usd: 1 },
    createChannel: { key: 'quokka-new', type: 'web', agent: 'quokka' },
    updateChannel: { enabled: true },
    pairChannelPerson: { code: 'ABCD2345', user: 'ben' },
    updateCustomTool: { timeout_seconds: 5 },
    putCustomTool: { timeout_seconds: 5 },
    testCustomTool: {},
    explainDecision: { tool: 'exec', agent: 'quokka' },
    putFile: { text: 'x' },
    restoreFile: { revision: 1 },
    setHeartbeat: { interval: 3_600 },
    changeKnowledgeEntity: { name: 'x' },
    mergeKnowledgeEntity: { into: has.entities[2] },
    splitKnowledgeEntity: { entity: has.entities[2] },
    changeKnowledgeRelation: { relation: 'x' },
    setSecureCliUserCredentials: { env: { Y_TOKEN: 'another-one' } },
    setMcpUserCredentials: { headers: { 'x-key': 'another' } },
    setMcpGrant: { tool_allow: ['x'] },
    createMcpRequest: { server: 'quokka', scope: 'agent', subject: 'quokka', reason: 'x' },
    reviewMcpRequest: { decision: 'reject', reason: 'x' },
    createMcpServer: { name: 'quokka-new', url: 'https://new.test/mcp', enabled: false },
    updateMcpServer: { timeout_sec: 5 },
    sendMessage: { text: 'x' },
    inviteNode: { name: 'quokka-new' },
    renameNode: { name: 'quokka' },
    restorePolicy: { change: has.policyChange },
    createFork: {},
    createFreeze: { reason: 'x', tools: ['quokka_unused'] },
    createSchedule: {
      name: 'new',
      agent: 'quokka',
      message: 'x',
      schedule: { kind: 'every', every_seconds: 86_400 },
    },
    setSecret: { value: 'a value of another' },
    endGuardedCall: { outcome: 'not_run' },
    putRemoteAgent: { url: 'https://new.test/agent/', description: 'x' },
    setSecureCli: { agents: ['quokka'] },
    publishSkill: {
      files: [
        {
          path: 'SKILL.md',
          content: Buffer.from('---\nname: quokka\ndescription: x\n---\nx').toString('base64'),
        },
      ],
    },
    createTeamTask: { subject: 'x' },
    putArtifact: 'x',
    putWorkspaceFile: 'x',
    updateTeam: { description: 'x' },
    createTeam: { key: 'quokka-new', lead: 'quokka', members: ['quokka-two'] },
    commentOnTask: { ...member, text: 'x' },
    attachTaskFile: { ...member, file: { name: 'b.txt', content: 'eA==' } },
    assignTask: { assignee: 'quokka-two' },
    reportTaskProgress: { ...member, percent: 1, text: 'x' },
    completeTask: { ...member, result: 'x' },
    handInTask: { ...member, result: 'x' },
    submitTaskForReview: { ...member, result: 'x' },
    askUserOfTask: { ...member, text: 'x' },
    approveTask: {},
    cancelTask: { reason: 'x' },
    rejectTask: { reason: 'x' },
    updateTask: { subject: 'x' },
    createWebhook: { url: 'https://new.test/hook', events: ['turn.completed'], agent: 'quokka' },
    invokeTool: { args: { path: 'a.txt' } },
    invokeToolByName: { tool: 'read_file', args: { path: 'a.txt' } },
    importAgent: has.exported,
    ...Object.fromEntries(
      ['claimTask', 'renewTask', 'releaseTask', 'clearQuestionOfTask', 'retryTask'].map((id) => [id, member]),
    ),
  };
  const places = (path: string): readonly (keyof typeof of)[] => {
    const parts = path.split('/');
    const seen: string[] = [];
    for (const [at, part] of parts.entries()) {
      if (!part.startsWith('{') || parts[at - 1]?.startsWith('{')) continue;
      const before = parts[at - 1] ?? '';
      if (before === 'files' && parts.includes('tasks')) seen.push('tasks/files');
      else if (before === 'compare' && parts.includes('revisions')) seen.push('revisions/compare');
      else seen.push(before);
    }
    return seen;
  };
  const queries: Record<string, string> = {
    compareFile: 'from=1',
    endHandoff: 'channel=web&chat_id=quokka',
    listCustomTools: 'limit=10&offset=0',
    receiveFromService: `tenant=${has.tenant}`,
    putArtifact: 'filename=x.txt',
    listTools: 'agent=quokka',
    getTool: 'agent=quokka',
    getUsage: 'by=session',
  };
  const isPerUser = (path: string): boolean =>
    /(files|workspace)\/\{|agent\}\/(files|heartbeat)|\/status$|credentials|oauth/.test(path) &&
    !path.includes('tasks');
  return {
    bodyOf: (operationId) => bodies[operationId],
    isOfAnn: (path) => isPerUser(path) || places(path).some((place) => of[place]?.isAnns),
    isOfTenant: (path) => places(path).some((place) => !of[place]?.isEverybodys),
    addressOf(operationId, path) {
      const values =
        operationId === 'mergeKnowledgeEntity'
          ? [has.entities[0] ?? '']
          : places(path).flatMap((place) => of[place]?.values ?? []);
      let at = 0;
      const address = path.replace(/\{\w+\}/g, () => encodeURIComponent(values[at++] ?? ''));
      if (at !== values.length || values.includes('')) return undefined;
      const query = [queries[operationId], isPerUser(path) && 'user=ann'].filter(Boolean).join('&');
      return query ? `${address}?${query}` : address;
    },
  };
}
