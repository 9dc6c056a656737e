/**
 * Requests to the configured providers with OpenAI's protocol, with bodies of the caller; the caller never sees address
 * and key. Each request is reserved in the turn's budgets before it is sent, and recorded as its use (DU-7).
 */
import { ModelError } from '#domain/model/model.ts';
import { expectedUsage, usageOfBody } from './rules/openai-usage.ts';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import { PROVIDER_ADDRESSES } from '#domain/model/provider-address.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { type BookDeps, bookModel } from '#activities/budgets/book-model.ts';
import { isUnsent } from '@tempoclaw/egress';
import type { Egress } from '#activities/egress/create-egress.ts';
import { operatorRules } from '#activities/egress/operator-rules.ts';
import { type Models, providerType, useOf } from '#activities/model/model-catalog.ts';
import type { ModelsConfig } from '#activities/model/models-config.ts';
import { estimateTextTokens } from '#activities/model/prompt-size.ts';
import { apiKeyOf, baseUrlOf, type ProviderSettings } from '#activities/model/provider-settings.ts';

export interface OpenAiServers {
  /** Names, in the order of the settings. */
  readonly names: readonly string[];
  /**
   * One POST of JSON; `exceeded` says why nothing was sent. @throws EgressError when no answer arrived, ModelError when
   * the settings are wrong, and the signal's reason.
   */
  post(
    caller: Caller,
    server: string,
    endpoint: string,
    body: Readonly<Record<string, unknown>>,
  ): Promise<ServerAnswer | { readonly exceeded: string }>;
}

type Caller = Pick<RunningCall, 'tenant' | 'sessionKey' | 'turnId' | 'callId' | 'signal' | 'idempotencyKey'>;

interface ServerAnswer {
  readonly status: number;
  readonly text: string;
}

export interface OpenAiServerParts {
  readonly providers: ModelsConfig['providers'];
  readonly egress: Egress;
  readonly egressSettings: EgressSettings;
  readonly resolveSecret: ProviderSettings['resolveSecret'];
  readonly models: Pick<Models, 'cost'>;
  readonly budgets: BookDeps['budgets'];
}

/** A slow model is silent until its answer is complete. Redirects are refused, because they would forward the key. */
const LIMITS = { redirects: 0, bytes: 8 * 1024 * 1024, totalMs: 120_000, idleMs: 120_000 };
const SPEAKERS = ['openai', 'openai-compatible'];

export function createOpenAiServers(parts: OpenAiServerParts): OpenAiServers {
  const { providers, egress, egressSettings, resolveSecret } = parts;
  const names = Object.entries(providers).flatMap(([name, provider]) =>
    provider && SPEAKERS.includes(providerType(name, provider.type)) ? [name] : [],
  );
  return {
    names,
    async post(caller, server, endpoint, body) {
      const { tenant, sessionKey: session, turnId: turn, callId } = caller;
      const model = typeof body['model'] === 'string' ? body['model'].slice(0, 200) : endpoint;
      const ref = `${server}/${model}`;
      const text = JSON.stringify(body);
      const expected = expectedUsage(endpoint, body, estimateTextTokens([text]));
      const booking = { tenant, session, turn, holder: `${callId}.direct`, ref, usage: expected };
      const done = await bookModel(parts, booking, async (note) => {
        try {
          const answer = await send(caller, server, endpoint, text);
          if (answer.status < 300) {
            const usage = usageOfBody(answer.text) ?? expected;
            note(useOf(parts.models, 'direct', ref, usage));
          }
          return { answer };
        } catch (error) {
          if (isUnsent(error)) return { error };
          if (!(error instanceof ModelError)) note(useOf(parts.models, 'failed', ref, expected));
          throw error;
        }
      });
      if ('exceeded' in done) return done;
      if ('error' in done.result) throw done.result.error;
      return done.result.answer;
    },
  };

  async function send(
    { tenant, callId, signal, idempotencyKey }: Caller,
    server: string,
    endpoint: string,
    body: string,
  ): Promise<ServerAnswer> {
    const { baseUrl, apiKey } = providers[server] ?? {};
    const settings = { name: server, baseUrl, apiKey, resolveSecret };
    const base = baseUrlOf(settings, PROVIDER_ADDRESSES.openai);
    const key = await apiKeyOf(settings);
    const url = `${base}/${endpoint}`;
    const rules = operatorRules({ url, isOwn: baseUrl !== undefined }, egressSettings);
    const client = egress.open({
      labels: { tenant, purpose: 'openai_compat_call', callId },
      rules,
      limits: LIMITS,
    });
    try {
      const answer = await client.fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body,
        signal,
      });
      if (answer.status >= 300 && answer.status < 400)
        throw new ModelError('BadRequest', `${server} redirects; set models.providers.${server}.baseUrl`);
      return { status: answer.status, text: await answer.text() };
    } finally {
      await client.close();
    }
  }
}
