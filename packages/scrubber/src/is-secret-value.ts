/**
 * Whether the value of a secret's name is a secret. References (`${TOKEN}`), placeholders (`your-key`), types
 * (`password: string`), paths and code that fetches the value stay readable; the rest is hidden.
 */
import { REDACTED } from './redaction.ts';
import type { SecretName } from './secret-names.ts';

export interface ValueShape {
  readonly quoted: boolean;
  readonly spaced: boolean;
  /** The line contains only the name and the value, as in YAML and settings files. */
  readonly wholeLine: boolean;
  /** After `Bearer` and similar there can only be a credential. */
  readonly scheme: boolean;
}

export function isSecretValue(value: string, name: SecretName, shape: ValueShape): boolean {
  if (name.kind === 'virtual') return value.length >= 4 && !value.startsWith(REDACTED);
  if (value.length < minLength(name, shape) || isPlaceholder(value)) return false;
  if (name.kind === 'connection') return isConnection(value, name, shape);
  if (ELSEWHERE.test(value)) return false;
  if (/\s/.test(value)) return shape.quoted && isPhrase(value, name);
  if (isExpression(value, shape)) return false;
  if (name.kind === 'env') return true;
  if (shape.scheme && isOpaque(value)) return true;
  return isRandomEnough(value, name, shape);
}

function isConnection(value: string, name: SecretName, shape: ValueShape): boolean {
  if ((name.weak && NO_LOGIN.test(value)) || isExpression(value, shape)) return false;
  return /[^A-Za-z_]/.test(value) || hasRandomCase(value);
}

/** An address without a user part or a query, whose name is not that of an environment variable. */
const NO_LOGIN = /^[a-z][a-z0-9+.-]{1,20}:\/\/[^@?;\s]*$/i;

/** Shorter values are words, states and counts. */
function minLength(name: SecretName, shape: ValueShape): number {
  if (name.password || name.chosen) return name.kind === 'env' ? 4 : 6;
  return shape.quoted || name.kind === 'env' ? 7 : 8;
}

/** A value with a placeholder has already been scrubbed; hiding more of it would not be idempotent. */
function isPlaceholder(value: string): boolean {
  return (
    value.includes(REDACTED) ||
    /^(.)\1*$/.test(value) ||
    REFERENCE.test(value) ||
    PLACEHOLDER.test(value) ||
    MASKED.test(value) ||
    STATE_WORD.test(value)
  );
}

const REFERENCE =
  /^(?:\$[({]|\$[A-Za-z_]\w*$|\$\d$|\$(?:env|secrets?|vars?)[.:]|<|\{|\(|\*(?:\*|[\w-]+$)|%[sdvq]\b|%\(|%[A-Z_]+%|#\{|[@:][A-Za-z_]+$|!(?:Ref|Sub|Get|vault|secret|env)|&[A-Za-z]|ENC\[|(?:process\.env|os\.environ|import\.meta|env|secrets|vars|var|local|config|self|this|args|req|request|options|props|ctx|data|settings|params|System|Deno|Bun)[.[(:])/i;
/** Addresses of a secret: a URL's own password is found by its shape. */
const ELSEWHERE =
  /^(?:(?:[a-z][a-z0-9+.-]{1,20}:)?\/\/|arn:|(?:vault|ssm):|(?:projects|secrets?|kv)\/[\w-])/i;
/** Includes versions, because packages have such names. */
const PLACEHOLDER =
  /^(?:your|[<[(]|change_?me|todo|\.{3}|…|•)|^(?:my|the|some|enter|insert|replace|change|put|add|example|sample|dummy|test|fake|placeholder)(?:[-_ ][a-z]+)+$|\*{3}|^(?:[~^]|[<>]=?)?\d+\.\d+\.\d+(?:-[a-z]+[.\d]*)?$|(?:\.{3}|…)$|[-_]here$/i;
/** In one case only: a random value may have an x and an X side by side. */
const MASKED = /^(?:x{3}|X{3})|x{4}|X{4}/;
/** Types, states and labels; a trailing full stop is prose. */
const STATE_WORD =
  /^(?:null|nil|none|undefined|true|false|yes|no|on|off|string|number|boolean|object|integer|bytes|required|optional|hidden|masked|redacted|disabled|enabled|empty|unset|missing|invalid|incorrect|expired|accepted|rejected|changed|unchanged|updated|reset|wrong|correct|protected|encrypted|generated|provided|prompted|present|absent|available|unavailable|valid|unknown|password|passwd|passwort|passphrase|secret|token|bearer|basic|oauth2?|bcrypt|scrypt|argon2\w*|plaintext|default|include|omit|inherit|same-origin|text|input|label|username|varchar|field|erforderlich|ung(?:ü|ue)ltig|falsch|requis|obligatoire|incorrecte?)[.,;!?)\]]*$/i;
const PROSE =
  /\b(?:must|your|enter|please|is|are|the|at least|characters|should|required|for|of|with|and|or|not|here)\b/i;

/** Several words: a passphrase contains a number, or its name shows that it is one. */
function isPhrase(value: string, name: SecretName): boolean {
  if (value.length > 512) return false;
  if (name.kind === 'phrase') return value.split(/\s+/).length >= 6;
  if (PROSE.test(value)) return false;
  // In an environment file no label or translation stands under such a name.
  const words = name.kind === 'env' ? value.toLowerCase() : value;
  return /\d/.test(value) || (name.chosen && isPassphrase(words));
}

const MEMBER_CHAIN = /^[A-Za-z_$][A-Za-z_$]*(?:\??(?:\.|::|->)[A-Za-z_$][\w$]*)+$/;
/** A type of a versioned package, as in Go: `corev1.Secret`. */
const TYPE_OF_API = /^[a-z]{0,16}v\d{1,2}(?:(?:alpha|beta)\d{1,2})?\.[A-Z][A-Za-z]{2,40}$/;
/** A token of Vault before 1.10. */
const OLD_VAULT = /^s\.(?=[A-Za-z]{0,23}\d)(?=[A-Za-z0-9]{0,23}[A-Z])[A-Za-z0-9]{24}$/;
const INDEXED = /^[A-Za-z_$][\w$.]*\[/;
/** Includes where and how it is mounted, in the syntax of container engines. */
const PATH_VALUE = /^(?:~|\.{1,2})?\/(?:[\w.@-]+\/)*[\w.@-]+(?::(?:\/[\w.@/-]+|[a-zA-Z]{1,12}))*$/;
const SYSTEM_PATH =
  /^(?:~|\.|\/(?:etc|usr|var|home|run|tmp|opt|root|mnt|srv|app|secrets|data|proc|dev|Users|workspace)\/)/;
/** It has a folder, and the ending of a file in which keys and settings are kept. */
const FILE_PATH = /^\/.+\/.+\.(?:json|pem|key|crt|cer|p12|pfx|jks|txt|ya?ml|toml|ini|conf|env)$/;

/** A path to a secret, or code that fetches one. */
function isExpression(value: string, shape: ValueShape): boolean {
  if (PATH_VALUE.test(value) && (SYSTEM_PATH.test(value) || FILE_PATH.test(value))) return true;
  if (shape.quoted || OLD_VAULT.test(value)) return false;
  return MEMBER_CHAIN.test(value) || TYPE_OF_API.test(value) || INDEXED.test(value);
}

const LETTERS = /^\p{L}+[.!?]?$/u;
const WORDS = /^\p{Ll}+(?:[-_.]\p{Ll}+)*$/u;
/** `currentPasswordInput`, `PasswordField`: an identifier. Random letters have consecutive capitals. */
const CAMEL = /^[A-Za-z]?[a-z]+(?:\d?[A-Z][a-z]+)+\d{0,2}[;)\]]*$/;
const OWN_WORD = /pass|token|secret|key|cred|auth|pwd/i;

/**
 * Words after a secret's name are prose or translations unless they are long or have the form of an environment file.
 */
function isRandomEnough(value: string, name: SecretName, shape: ValueShape): boolean {
  if (name.weak && !looksRandom(value)) return false;
  if (isIdentifier(value, shape)) return false;
  if (LETTERS.test(value)) return value.length >= lettersNeeded(value, name, shape);
  if (WORDS.test(value) && (shape.spaced || shape.quoted))
    return value.length >= 24 || (name.chosen && (shape.quoted || shape.wholeLine) && isPassphrase(value));
  return !/^\d+$/.test(value) || name.password || isWholeValue(shape);
}

/** A number in a sentence or a list of fields is a count. */
function isWholeValue({ quoted, wholeLine, spaced }: ValueShape): boolean {
  return quoted || wholeLine || !spaced;
}

/** Three or more words that name nothing of a cluster or a vault. */
function isPassphrase(value: string): boolean {
  return value.length >= 16 && /^[a-z]+(?:[-_ ][a-z]+){2,}$/.test(value) && !OWN_WORD.test(value);
}

/** Excludes sentences about `Bearer authentication`. */
function isOpaque(value: string): boolean {
  if (!LETTERS.test(value)) return /[\w~+/-]{8}/.test(value);
  return hasRandomCase(value) || (value.length >= 12 && !OWN_WORD.test(value));
}

function looksRandom(value: string): boolean {
  if (/\d/.test(value)) return value.length >= 12 && /[A-Za-z]/.test(value);
  return value.length >= 16 && hasRandomCase(value);
}

/**
 * Consecutive capitals twice (`JWTPayload` has them once), or a change at most letters: base64 of a text without
 * digits.
 */
function hasRandomCase(value: string): boolean {
  if (/[A-Z]{2,}[a-z].*[A-Z]{2,}[a-z]/.test(value)) return true;
  const changes = value.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0;
  return changes >= 4 && changes / value.length >= 0.6;
}

function isIdentifier(value: string, shape: ValueShape): boolean {
  if (!CAMEL.test(value) || hasRandomCase(value)) return false;
  return LETTERS.test(value) || (OWN_WORD.test(value) && !shape.quoted && !shape.wholeLine);
}

/** `Password: accepted` is prose and `"password": "Passwort"` a label; `password=swordfish` is neither. */
function lettersNeeded(value: string, name: SecretName, shape: ValueShape): number {
  if (hasRandomCase(value)) return 8;
  const isLower = /^[a-z]+$/.test(value);
  const isChosen = name.password || (name.chosen && (value.length >= 12 || !OWN_WORD.test(value)));
  if (isChosen && isLower && shape.quoted) return name.password ? 6 : 8;
  if (isChosen && isLower && shape.wholeLine) return 8;
  return shape.spaced || shape.quoted ? 16 : 8;
}
