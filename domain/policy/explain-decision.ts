/** PO-4: a decision on a tool in words, for the model that is refused and for people who want the reason. */
import { POLICY_STEPS, type ToolDecision } from './effective-tools.ts';

/** A clause such as `denied by the agent's deny list (group:runtime)`, without a full stop. */
export function explainDecision(decision: ToolDecision): string {
  if (decision.step === 'default') return 'allowed: no rule limits it';
  if (decision.step === 'skill_brings') return `brought in by skill ${decision.rule}, which is in use`;
  if (decision.step === 'skill_hides')
    return `hidden by skill ${decision.rule}, which is in use and names others`;
  const rule = decision.rule === null ? '' : ` (${decision.rule})`;
  if (decision.allowed) return `allowed by ${POLICY_STEPS[decision.step]}${rule}`;
  const isLeftOut =
    decision.step.endsWith('allow') || decision.step.endsWith('profile') || decision.step === 'parent';
  return isLeftOut
    ? `not in ${POLICY_STEPS[decision.step]}${rule}`
    : `denied by ${POLICY_STEPS[decision.step]}${rule}`;
}
