/** PO-4 for addresses: uses the judge of every outgoing request, with answers of a resolver or those in the case. */
import type { z } from 'zod';
import {
  judgeAddresses,
  judgeUrl,
  MAX_REDIRECTS,
  type UrlRules,
  type UrlVerdict,
} from '@tempoclaw/egress/rules';
import { effectiveEgress } from '#domain/policy/effective-egress.ts';
import type { ExplainAnswer, explainUrlSchema } from '../schema/explain.ts';
import type { RuleSource } from './explain-scope.ts';
import { urlRemedy } from './remedies.ts';

export interface ExplainUrlDeps extends RuleSource {
  /** Addresses of a name; empty when there are none. Bounded in time. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
}

type UrlCase = z.infer<typeof explainUrlSchema>;

export async function explainUrl(deps: ExplainUrlDeps, input: UrlCase): Promise<ExplainAnswer> {
  const rules = await rulesOf(deps, input);
  const first = await judgeHop(deps, input, input.url, rules);
  let at = input.url;
  const seen = new Set([at]);
  for (const [index, location] of (input.redirects ?? []).entries()) {
    if (first.decision === 'deny') break;
    if (index >= MAX_REDIRECTS) return refused(`it leads on more than ${MAX_REDIRECTS} times`);
    if (!URL.canParse(location, at)) return refused('it leads to an address that cannot be read');
    // Not canonicalized here, because the judge must see what was written.
    const from = at;
    at = /^[a-z][a-z0-9+.-]*:/i.test(location) ? location : new URL(location, at).href;
    if (seen.has(at)) return refused('it leads round in circles');
    seen.add(at);
    const next = await judgeHop(deps, input, at, rules);
    if (next.decision === 'deny') return answerOf(next);
    if (/^https:/i.test(from) && !/^https:/i.test(at))
      return refused('it leads from https to http', 'scheme');
  }
  return answerOf(first);
}

/** The present rules of the agent, with the additions of the case. */
async function rulesOf({ settings, agentOf }: RuleSource, input: UrlCase): Promise<UrlRules> {
  const { agent, tenant_policy } = await agentOf(input.agent);
  const { policy, allowed_domains, blocked_domains } = input;
  const inForce = effectiveEgress(settings.egress, [
    tenant_policy?.egress,
    agent.egress,
    { policy, allowed_domains, blocked_domains },
  ]);
  return {
    ...inForce,
    internalHosts: [...(inForce.internalHosts ?? []), ...(input.internal_hosts ?? [])],
    allowPrivate: input.allow_private,
    allowedPorts: [...(inForce.allowedPorts ?? []), ...(input.allowed_ports ?? [])],
  };
}

async function judgeHop(
  deps: ExplainUrlDeps,
  input: UrlCase,
  url: string,
  rules: UrlRules,
): Promise<UrlVerdict> {
  const verdict = judgeUrl(url, rules);
  if (verdict.decision === 'deny' || verdict.address !== undefined) return verdict;
  const caseAnswers = answersOf(input, verdict.host);
  const answers = caseAnswers ?? [await deps.resolve(verdict.host)];
  // No rule forbids it: this machine only cannot resolve it, and a request from here would fail by itself.
  if (caseAnswers === undefined && answers[0]?.length === 0)
    return { ...verdict, reason: `${verdict.host} may be asked by its name; it does not resolve from here` };
  const judged = answers.map((addresses) => judgeAddresses(verdict, addresses, rules));
  return (
    judged.find(({ decision }) => decision === 'deny') ?? judged[0] ?? judgeAddresses(verdict, [], rules)
  );
}

/** The case's addresses of the name, lookup by lookup; undefined when a resolver should be used. */
function answersOf(input: UrlCase, host: string): readonly (readonly string[])[] | undefined {
  const { dns, dns_sequence: sequence } = input;
  const list = (answer: string | string[] | undefined): string[] =>
    answer === undefined ? [] : typeof answer === 'string' ? [answer] : answer;
  const own = <Value>(record: Readonly<Record<string, Value>>): Value | undefined =>
    Object.entries(record).find(([name]) => name.toLowerCase().replace(/\.$/, '') === host)?.[1];
  if (sequence) {
    const answers = Array.isArray(sequence) ? sequence : own(sequence);
    if (answers) return answers.map(list);
  }
  if (dns === undefined) return undefined;
  return [Array.isArray(dns) ? dns : list(own(dns))];
}

function refused(why: string, rule = 'redirects'): ExplainAnswer {
  return { decision: 'deny', rule, reason: why };
}

function answerOf({ decision, rule, reason, address }: UrlVerdict): ExplainAnswer {
  return { decision, rule, reason, address, remedy: decision === 'deny' ? urlRemedy(rule) : undefined };
}
