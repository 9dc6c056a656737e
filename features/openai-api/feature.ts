import { defineFeature } from '#domain/feature.ts';

export const openaiApi = defineFeature({
  name: 'openai-api',
  summary: "Agents as models of OpenAI's protocols: chat completions and responses.",
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  routes: [
    () => import('./routes/models.ts'),
    () => import('./routes/chat-completions.ts'),
    () => import('./routes/responses.ts'),
  ],
});
