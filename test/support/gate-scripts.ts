/** Rehearsal scripts of agents that work under quality gates, and of their judges. */

/** Answers better when it is requested to. */
export const DRAFTS = `
description: Writes a draft, and a better one after feedback.
rules:
  - when: { user: { regex: 'Quality Gate Feedback' } }
    reply: { text: 'the improved draft' }
  - reply: { text: 'the first draft' }
`;

export const CRITIC = `
description: Approves of improved drafts.
rules:
  - when: { user: { regex: 'improved' } }
    reply: { text: 'approved, nice' }
  - reply: { text: 'REJECTED: improve it' }
`;

/** A member of a team that requests a review of its work, and improves it after feedback. */
export const SUBMITS = `
description: Submits a draft for review, and a better one after feedback.
rules:
  - when: { step: 0, user: { regex: 'Quality Gate Feedback' } }
    reply: { calls: [{ tool: team_tasks, args: { action: review, result: 'the improved draft' } }] }
  - when: { step: 0 }
    reply: { calls: [{ tool: team_tasks, args: { action: review, result: 'the first draft' } }] }
  - reply: { text: 'Handed in.' }
`;
