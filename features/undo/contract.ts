/** What can be done about a call of a turn that is undone (DU-9). */
export const REVERSALS = ['reverse', 'running', 'reversed', 'nothing', 'irreversible', 'unknown'] as const;
export type ReversalAction = (typeof REVERSALS)[number];
