import { defineFeature } from '#domain/feature.ts';

export const terminalChat = defineFeature({
  name: 'terminal-chat',
  summary: 'Conversations at a terminal, where people also decide approvals in place.',
  commands: [
    {
      group: 'Talk:',
      name: 'chat',
      summary: 'talk to an agent: live steps, approvals in place; Ctrl-C stops the turn, twice leaves',
      before: 'approvals',
      load: () => import('./commands/chat.ts'),
    },
    {
      group: 'Talk:',
      name: 'run',
      summary: 'run one turn: progress on stderr, the answer on stdout; exit 1 when it failed or was stopped',
      before: 'approvals',
      load: () => import('./commands/run.ts'),
    },
  ],
  subcommands: { approvals: () => import('./commands/approvals.ts') },
});
