/** The providers of the settings that speak OpenAI's protocol, asked in words of the caller's own; address and key are never its. */
import { ModelError } from '#domain/model.ts';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { Egress } from '../egress/egress.ts';
import { operatorRules } from '../egress/operator-rules.ts';
import { providerType } from './model-catalog.ts';
import type { ModelsConfig } from './models-config.ts';
import { apiKeyOf, baseUrlOf, type ProviderSettings } from './provider-settings.ts';

export interface OpenAiServers {
  /** Names, in the order of the settings. */
  readonly names: readonly string[];
  /**
   * One POST of JSON. @throws EgressError when nothing came back, ModelError when the settings are wrong, and the signal's reason.
   */
  post(
    caller: Pick<RunningCall, 'tenant' | 'callId' | 'signal' | 'idempotencyKey'>,
    server: string,
    endpoint: string,
    body: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly status: number; readonly text: string }>;
}

export interface OpenAiServerParts {
  readonly providers: ModelsConfig['providers'];
  readonly egress: Egress;
  readonly egressSettings: EgressSettings;
  readonly resolveSecret: ProviderSettings['resolveSecret'];
}

/** A slow model is silent until its answer is whole. No redirects: they would carry the key on. */
const LIMITS = { redirects: 0, bytes: 8 * 1024 * 1024, totalMs: 120_000, idleMs: 120_000 };
const SPEAKERS = ['openai', 'openai-compatible'];
const USUAL = 'https://api.openai.com/v1';

export function createOpenAiServers(parts: OpenAiServerParts): OpenAiServers {
  const { providers, egress, egressSettings, resolveSecret } = parts;
  const names = Object.entries(providers).flatMap(([name, provider]) =>
    provider && SPEAKERS.includes(providerType(name, provider.type)) ? [name] : [],
  );
  return {
    names,
    async post({ tenant, callId, signal, idempotencyKey }, server, endpoint, body) {
      const { baseUrl, apiKey } = providers[server] ?? {};
      const settings = { name: server, baseUrl, apiKey, resolveSecret };
      const base = baseUrlOf(settings, USUAL);
      const key = await apiKeyOf(settings);
      const url = `${base}/${endpoint}`;
      const rules = operatorRules({ url, isOwn: baseUrl !== undefined }, egressSettings);
      const door = egress.open({ tenant, callId, purpose: 'openai_compat_call', rules, limits: LIMITS });
      try {
        const answer = await door.fetch(url, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'idempotency-key': idempotencyKey,
          },
          body: JSON.stringify(body),
          signal,
        });
        if (answer.status >= 300 && answer.status < 400)
          throw new ModelError('BadRequest', `${server} redirects; set models.providers.${server}.baseUrl`);
        return { status: answer.status, text: await answer.text() };
      } finally {
        await door.close();
      }
    },
  };
}
