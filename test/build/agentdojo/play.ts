/** What the function that judges calls in a turn says about a session, answer by answer. */
import { z } from 'zod';
import type { ToolPolicy } from '#domain/agent.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import { createCallRules, type Verdict } from '#policy/call-rules.ts';
import type { Catalog } from '#policy/catalog.ts';
import type { Tool } from '#policy/define-tool.ts';
import type { Answer, Step } from './scenarios.ts';

export type Judged = readonly (readonly {
  readonly step: Step;
  readonly verdict: Verdict['verdict'];
}[])[];

/**
 * Each call has run before the next answer, whatever its verdict, so that a call that needs approval counts as
 * approved.
 */
export function playAll(catalog: Catalog, answers: readonly Answer[], tools: ToolPolicy): Judged {
  const rules = createCallRules({ catalog, tools });
  const agent = { key: 'main', type: 'open', model: 'rehearsal/follow' } as const;
  const scope = { agent, context: {}, user: null, allowlist: [] };
  let used: UsedTools = {};
  return answers.map((answer) => {
    const judged = answer.map((step) => {
      const tool = catalog.find(step.tool)?.tool ?? customTool(step);
      return { step, verdict: rules.judge({ ...scope, used, tool, args: step.args }).verdict };
    });
    for (const { tool } of answer) used = { [tool]: 'call', ...used };
    return judged;
  });
}

function customTool({ tool: name, kind }: Step): Tool {
  return {
    name,
    description: name,
    group: 'custom',
    replay: kind === 'reads' ? 'readonly' : 'once',
    input: z.unknown(),
    limits: { duration: 'long', timeoutSeconds: 1 },
    run: () => Promise.reject(new Error('is only judged')),
  };
}
