/** All bare workflows, for the worker's bundle. */
export * from './agents-workflows.ts';
export * from './workflows.ts';
