/** IN-10: identity providers whose tokens are accepted, and what claims of a token mean here. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';
import { MAX_TENANT } from '#domain/ids.ts';
import { SCOPES } from '#domain/schema/api-key.ts';
import { labelSchema, nameSchema } from '#domain/schema/scalars.ts';

/** With a symmetric algorithm, everyone who can check a token could make one. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** A claim by its name, or by a path with dots (`realm_access.roles`). */
const claimSchema = labelSchema;

const ruleSchema = z
  .strictObject({
    /** Each of these claims must be, or contain, the value. Absent means every token. */
    when: z.record(claimSchema, z.union([labelSchema, z.boolean()])).exactOptional(),
    tenant: nameSchema.max(MAX_TENANT).exactOptional(),
    /** The claim that contains the tenant. It never leads to the operator's. */
    tenantClaim: claimSchema.exactOptional(),
    scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length),
  })
  .refine(({ tenant, tenantClaim }) => (tenant === undefined) !== (tenantClaim === undefined), {
    error: 'must have either tenant or tenantClaim',
  });

const issuerSchema = z.strictObject({
  /** For people: on the button of the login page. */
  name: nameSchema,
  /** Exactly as tokens have it in `iss`. */
  issuer: z.url().max(200).refine(isIssuer, {
    error: 'must be an https:// URL without query (http:// only on this machine)',
  }),
  /** Tokens must be for one of these. */
  audience: z.array(labelSchema).min(1).max(20),
  algorithms: z
    .array(z.enum(ALGORITHMS))
    .min(1)
    .default([...ALGORITHMS]),
  /** What `typ` in the header of a token may be; a token without it counts as `JWT`. */
  types: z.array(labelSchema).min(1).max(10).default(['at+jwt', 'JWT']),
  clockToleranceSeconds: z.number().int().min(0).max(300).default(30),
  /** The shortest time between two requests for the provider's keys. */
  keysPauseSeconds: z.number().int().min(1).max(3_600).default(30),
  /** The claim that contains the user. */
  user: claimSchema.default('sub'),
  /** The claim that contains the groups. */
  groups: claimSchema.default('groups'),
  /** Absent: nobody logs in to the console here. */
  client: z
    .strictObject({
      id: labelSchema,
      /** Absent for a public client. */
      secret: z.string().min(1).max(1_000).exactOptional(),
      scope: labelSchema.default('openid profile email'),
      /** Where logging out of the console ends the login: here alone, or at the provider too. */
      logout: z.enum(['console', 'provider']).default('console'),
    })
    .exactOptional(),
  /** The first one that a token meets applies. */
  rules: z.array(ruleSchema).min(1).max(100),
});

export type IssuerSettings = z.output<typeof issuerSchema>;

const schema = z
  .strictObject({ issuers: z.preprocess(readJson, z.array(issuerSchema).max(20)).default([]) })
  .prefault({});

/** A variable has them as JSON. */
function readJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    // The schema then says that this is not a list.
    return value;
  }
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (!url || /[?#]/.test(text) || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isThisMachine(url.hostname));
}

function isThisMachine(host: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(host);
}

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly oidc: z.output<typeof schema>;
  }
}

export const oidcSettings = defineSection({
  name: 'oidc',
  schema,
  variables: [[['TEMPOCLAW_OIDC_ISSUERS'], 'oidc.issuers', 'text']],
  secrets: ({ issuers }) => issuers.map(({ client }) => client?.secret),
  problems: ({ issuers }) =>
    (['name', 'issuer'] as const).flatMap((field) => {
      const values = issuers.map((one) => one[field]);
      return new Set(values).size < values.length ? [`oidc.issuers: two have the same ${field}`] : [];
    }),
});
