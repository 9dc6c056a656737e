import { defineFeature } from '#domain/feature.ts';

export const openaiCompatCall = defineFeature({
  name: 'openai-compat-call',
  summary: 'Requests of agents in OpenAI’s protocol to servers of the settings.',
  worker: () => import('./worker.ts'),
  tools: [() => import('./tools/openai-compat-call.ts')],
});
