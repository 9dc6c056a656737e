/** Cards that say what an agent is and how to talk with it. */
import {
  A2A_PROTOCOL_VERSION,
  type AgentCard,
  type AgentInterface,
  type AgentSkill,
  generateAgentCardSignature,
} from '@a2a-js/sdk';
import { Failure } from '#domain/errors.ts';
import { findAgent } from '#store/agent-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createCardKey } from './card-key.ts';
import type { A2aRequest } from './tasks.ts';

/** Any file is accepted; these are the most common. */
const INPUT_MODES = [
  'text/plain',
  'application/json',
  'application/octet-stream',
  'application/pdf',
  'image/png',
  'image/jpeg',
];

export function addressOf(base: string, agent: string): string {
  return `${base}/v1/a2a/${agent}`;
}

export function keysAddress(base: string): string {
  return `${base}/v1/a2a/jwks.json`;
}

/** Without a key it is not known whose agent is meant, so the card says nothing but how to ask. */
export function publicCard(base: string, agent: string): AgentCard {
  return cardOf(base, agent, {
    version: '1',
    description: 'An agent of TempoClaw. With a key, the extended card says more.',
  });
}

/** @throws Failure NotFound */
export async function extendedCard({ deps, caller, agent, base }: A2aRequest): Promise<AgentCard> {
  const row = await findAgent(forTenant(deps.pool, caller.tenant), agent);
  if (!row) throw new Failure('NotFound', `There is no agent ${agent}`);
  const { description = `The agent ${agent}` } = row.config;
  return sign(deps.tokenSecret, base, cardOf(base, agent, { version: String(row.revision), description }));
}

/** Clients check the signature with the keys at `keysAddress`. */
export function sign(secret: string, base: string, card: AgentCard): Promise<AgentCard> {
  const { privateKey, publicJwk } = createCardKey(secret);
  const header = { alg: 'EdDSA', kid: publicJwk.kid, typ: 'JOSE', jku: keysAddress(base) };
  return generateAgentCardSignature(privateKey, header)(card);
}

function cardOf(
  base: string,
  agent: string,
  { version, description }: Pick<AgentCard, 'version' | 'description'>,
): AgentCard {
  const interfaceOf = (protocolBinding: string): AgentInterface => ({
    url: addressOf(base, agent),
    protocolBinding,
    tenant: '',
    protocolVersion: A2A_PROTOCOL_VERSION,
  });
  const skill: AgentSkill = {
    id: agent,
    name: agent,
    description,
    tags: [agent],
    examples: [],
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
  return {
    name: agent,
    description,
    version,
    supportedInterfaces: [interfaceOf('JSONRPC'), interfaceOf('HTTP+JSON')],
    provider: undefined,
    documentationUrl: `${base}/docs`,
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, extensions: [] },
    securitySchemes: {
      key: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { scheme: 'Bearer', bearerFormat: '', description: 'A key of the API' },
        },
      },
    },
    securityRequirements: [{ schemes: { key: { list: [] } } }],
    defaultInputModes: INPUT_MODES,
    defaultOutputModes: ['text/plain', 'application/octet-stream'],
    skills: [skill],
    signatures: [],
  };
}
