/** SA-3: tools that a subagent never has, whatever other rules say. Aliases of a tool count as the tool. */

export const SUBAGENT_DENY =
  'gateway agents_list whatsapp_login session_status cron memory_search memory_get sessions_send'.split(' ');

/** Denied for a subagent at the greatest depth: it cannot spawn, and sees no sessions. */
export const LEAF_DENY = 'sessions_list sessions_history sessions_spawn spawn subagent'.split(' ');
