/** What people filter children by in the web UI (IN-5): Temporal hands nothing of a parent's down. */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { ChildLabels } from '#domain/turn.ts';

export function childLabels({ tenant, session, agent, user }: ChildLabels): SearchAttributePair[] {
  return [
    { key: defineSearchAttributeKey('TempoclawTenant', 'KEYWORD'), value: tenant },
    { key: defineSearchAttributeKey('TempoclawSession', 'KEYWORD'), value: session },
    { key: defineSearchAttributeKey('TempoclawAgent', 'KEYWORD'), value: agent },
    { key: defineSearchAttributeKey('TempoclawState', 'KEYWORD'), value: 'running' },
    ...(user === undefined
      ? []
      : [{ key: defineSearchAttributeKey('TempoclawUser', 'KEYWORD'), value: user }]),
  ];
}
