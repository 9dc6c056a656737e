/** Checks a signed token (RFC 7519, RFC 8725): all that can be wrong with one is refused, and the answer says what. */
import {
  base64url,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type ProtectedHeaderParameters,
} from 'jose';
import { Failure } from '#domain/errors.ts';
import { isRecord, isText } from '#domain/outside-value.ts';
import type { IssuerSettings } from './settings.ts';

/** Characters; Node accepts no more than 16 KB of headers in all. */
const MAX_TOKEN = 12_000;
const MAX_SUBJECT = 255;

export interface Claims extends JWTPayload {
  readonly sub: string;
  readonly iat: number;
  readonly exp: number;
}

export interface TokenRules extends Pick<IssuerSettings, 'issuer' | 'algorithms' | 'clockToleranceSeconds'> {
  readonly audience: readonly string[];
  readonly types: readonly string[];
}

/** A token that is read, but proves nothing yet. */
export interface UncheckedToken {
  readonly text: string;
  readonly header: ProtectedHeaderParameters;
  readonly issuer: string | undefined;
}

/** Undefined for a text that is no token of this kind. @throws Failure Unauthorized for one that cannot be read */
export function readToken(text: string): UncheckedToken | undefined {
  const parts = text.split('.', 4);
  if (parts.length !== 3) return undefined;
  if (text.length > MAX_TOKEN) throw refused(`it has more than ${MAX_TOKEN} characters`);
  let read: readonly [ProtectedHeaderParameters, JWTPayload];
  try {
    read = [decodeProtectedHeader(text), decodeJwt(text)];
  } catch {
    throw refused('it cannot be read');
  }
  // Programs differ in which one of two equal names they read.
  if (parts.slice(0, 2).some((part) => hasRepeatedName(new TextDecoder().decode(base64url.decode(part)))))
    throw refused('it names something twice');
  const [header, { iss }] = read;
  return { text, header, issuer: typeof iss === 'string' ? iss : undefined };
}

/** @throws Failure Unauthorized; Unavailable when the keys cannot be read */
export async function checkToken(
  { text, header }: UncheckedToken,
  findKey: JWTVerifyGetKey,
  rules: TokenRules,
): Promise<Claims> {
  const type = typeOf(header.typ);
  if (!rules.types.some((one) => typeOf(one) === type)) throw refused(`its type ${type} is not accepted`);
  if (!isText(header.kid, MAX_SUBJECT)) throw refused('it does not say which key signed it (kid)');
  const tolerance = rules.clockToleranceSeconds;
  const claims = await jwtVerify(text, findKey, {
    issuer: rules.issuer,
    audience: [...rules.audience],
    algorithms: [...rules.algorithms],
    clockTolerance: tolerance,
    requiredClaims: ['sub', 'iat', 'exp'],
  }).then(
    ({ payload }) => payload,
    (error: unknown) => {
      // What is no error of jose either is about a key that the algorithm cannot use.
      throw error instanceof Failure ? error : refused(wordsOf(error));
    },
  );
  const { sub, iat = 0, exp = 0 } = claims;
  if (!isText(sub, MAX_SUBJECT) || sub === '') throw refused('its subject is not a name');
  // A token from the future would count as the newest for as long.
  if (iat > Date.now() / 1000 + tolerance) throw refused('it was issued in the future (iat)');
  return { ...claims, sub, iat, exp };
}

function typeOf(value: unknown): string {
  const text = typeof value === 'string' ? value.toLowerCase().slice(0, 40) : 'jwt';
  return text.replace(/^application\//, '');
}

function wordsOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'it has expired (exp)';
  if (error instanceof errors.JWTClaimValidationFailed) return `its claim ${error.claim} is not accepted`;
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not accepted (alg)';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  if (error instanceof errors.JWKSNoMatchingKey) return 'its issuer has no such key (kid)';
  return 'it is not valid';
}

export function refused(why: string): Failure {
  return new Failure('Unauthorized', `This token is not accepted: ${why}`);
}

/** Whether an object of the JSON has two fields of one name. In JSON, only names have a colon behind them. */
function hasRepeatedName(json: string): boolean {
  let names = 0;
  for (const [, colon] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/gs)) if (colon !== undefined) names += 1;
  return names !== countNames(JSON.parse(json));
}

/** Without recursion, because a token may be nested as deeply as its size permits. */
function countNames(json: unknown): number {
  let names = 0;
  for (const waiting = [json]; waiting.length > 0; ) {
    const value = waiting.pop();
    if (Array.isArray(value)) waiting.push(...value);
    else if (isRecord(value)) {
      names += Object.keys(value).length;
      waiting.push(...Object.values(value));
    }
  }
  return names;
}
