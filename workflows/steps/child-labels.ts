/** Search attributes of workflows for the web UI (IN-5): Temporal passes none from a parent to its children. */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { WorkState } from '#domain/search-attributes.ts';
import type { ChildLabels } from '#domain/turn/turn-activities.ts';

const TENANT = defineSearchAttributeKey('TempoclawTenant', 'KEYWORD');
const SESSION = defineSearchAttributeKey('TempoclawSession', 'KEYWORD');
const AGENT = defineSearchAttributeKey('TempoclawAgent', 'KEYWORD');
const USER = defineSearchAttributeKey('TempoclawUser', 'KEYWORD');
const TEAM = defineSearchAttributeKey('TempoclawTeam', 'KEYWORD');
const STATE = defineSearchAttributeKey('TempoclawState', 'KEYWORD');

export function childLabels({ tenant, session, agent, user }: ChildLabels): SearchAttributePair[] {
  return [
    { key: TENANT, value: tenant },
    { key: SESSION, value: session },
    { key: AGENT, value: agent },
    { key: STATE, value: 'running' },
    ...(user === undefined ? [] : [{ key: USER, value: user }]),
  ];
}

/** For a child that works on behalf of its parent. */
export function inheritedLabels(state: WorkState): SearchAttributePair[] {
  const own = workflowInfo().typedSearchAttributes;
  const inherited = [TENANT, SESSION, AGENT, USER, TEAM].flatMap((key) => {
    const value = own.get(key);
    return value === undefined ? [] : [{ key, value }];
  });
  return [...inherited, { key: STATE, value: state }];
}

/** A session that another client has started gets what its input says; its agent is known only from its rows. */
export function labelUnlabelled({ tenant, session_key }: { tenant: string; session_key: string }): void {
  if (workflowInfo().typedSearchAttributes.get(TENANT) !== undefined) return;
  upsertSearchAttributes([
    { key: TENANT, value: tenant },
    { key: SESSION, value: session_key },
    { key: STATE, value: 'running' },
  ]);
}
