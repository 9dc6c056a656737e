import { defineFeature } from '#domain/feature.ts';

export const uiStream = defineFeature({
  name: 'ui-stream',
  summary: 'Chats of front ends that speak the UI message stream of the AI SDK.',
  routes: [() => import('./routes/chats.ts')],
});
