/** The files of a new folder. */
import manifest from '../../package.json' with { type: 'json' };

const REFUND = `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { tool, z } from 'tempoclaw';

const FILE = 'refunds.log';

export default tool({
  description: 'Refund an order',
  input: z.object({ order: z.string().describe('Id of the order, such as A17') }),
  replay: 'once',
  approval: true,
  run({ order }) {
    appendFileSync(FILE, order + '\\n');
    return 'Order ' + order + ' is refunded.';
  },
  // After a crash: has it happened?
  probe: ({ order }) =>
    existsSync(FILE) && readFileSync(FILE, 'utf8').split('\\n').includes(order)
      ? 'Order ' + order + ' is refunded.'
      : undefined,
});
`;

const AGENT = `---
# This model follows what a message spells out, and needs no key. Use your own: openai/gpt-5-mini, anthropic/claude-sonnet-4-5, ...
model: rehearsal/follow
---
You help the customers of a shop. Look up what you do not know, and refund only what a customer asks for.
`;

const SKILL = `---
name: refunds
description: When and how to refund an order. Read it before you refund anything.
---
Refund an order only when the customer names its id. Say when the money arrives: within five days.
`;

const EVAL = `import assert from 'node:assert/strict';
import { it } from 'node:test';
import { agent, scripted } from 'tempoclaw/eval';

it('refunds the order that the customer names, once', async () => {
  const shop = agent('shop', {
    // No tool runs in an eval: it gets these answers.
    tools: { refund: scripted(['Order A17 is refunded.']) },
    approvals: { refund: 'approve' },
  });
  // For the model of this folder a message spells out the calls. A real model finds them by itself.
  const run = await shop.send('refund {"order":"A17"}');
  assert.deepEqual(run.calls.map(({ args }) => args), [{ order: 'A17' }]);
});
`;

const GUIDE = `# For coding agents

This folder is an agent system that TempoClaw runs.

- \`agents/NAME.md\`: an agent. The front matter has its settings (\`model\`, \`tools\`, \`limits\`), the text is its instructions.
- \`tools/NAME.ts\`: a tool, \`export default tool({ ... })\` of \`tempoclaw\`. \`replay\` says what a second run would do: \`read\`,
  \`idempotent\` or \`once\`. Give \`once\` a \`probe\` that finds out after a crash whether it happened. Each field of \`input\`
  has a \`.describe()\`. \`npx tempoclaw tools test NAME '{...}' --kill\` shows what a crash leaves. \`openapi(document)\` makes tools of an
  OpenAPI document.
- \`hooks/NAME.ts\`: a hook, \`export default hook({ event, tools, run })\` of \`tempoclaw\`: it denies a call or prompt, has people asked,
  or changes it. It denies when it fails.
- \`skills/NAME/SKILL.md\`: instructions that agents find when they need them.
- \`schedules/NAME.md\`: a message to an agent at times to come: \`cron\`, \`every\` or \`at\` in the front matter.
- \`features/NAME/feature.ts\`: a feature with tables, routes and commands, \`export default defineFeature({ ... })\` of
  \`tempoclaw/feature\`. It runs inside TempoClaw. Prefer a tool where a tool is enough.
- \`evals/NAME.eval.ts\`: tests of what agents do, with tools that follow a script. \`npx tempoclaw eval\` runs them. Add one for what
  you change.

\`npx tempoclaw dev\` runs all of it and follows changes. \`npx tempoclaw deploy --plan\` shows what a deployment would change.
`;

/** Texts by their paths. */
export function templateOf(name: string): Readonly<Record<string, string>> {
  const project = {
    name,
    private: true,
    type: 'module',
    scripts: { dev: 'tempoclaw dev', test: 'tempoclaw eval', deploy: 'tempoclaw deploy' },
    dependencies: { tempoclaw: manifest.version },
  };
  return {
    'package.json': `${JSON.stringify(project, null, 2)}\n`,
    'agents/shop.md': AGENT,
    'tools/refund.ts': REFUND,
    'skills/refunds/SKILL.md': SKILL,
    'evals/refunds.eval.ts': EVAL,
    'AGENTS.md': GUIDE,
    '.gitignore': 'node_modules/\n.tempoclaw/\n.env\nrefunds.log\n',
  };
}
