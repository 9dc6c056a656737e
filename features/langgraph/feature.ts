import { defineFeature } from '#domain/feature.ts';

export const langgraph = defineFeature({
  name: 'langgraph',
  summary: "Agents for clients of LangGraph's API.",
  routes: [
    () => import('./routes/assistants.ts'),
    () => import('./routes/threads.ts'),
    () => import('./routes/runs.ts'),
  ],
});
