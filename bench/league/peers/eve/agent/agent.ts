/** An agent of eve with its default world: https://eve.dev/docs/guides/deployment/self-hosting. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineAgent } from 'eve';
import { MODEL_URL } from '../../served.ts';

const provider = createOpenAICompatible({ name: 'league', baseURL: MODEL_URL, apiKey: 'none' });

export default defineAgent({ model: provider('script'), modelContextWindowTokens: 64_000 });
