/**
 * Which names of settings, fields and variables have secret values: those of `key=value`, and of environment variables.
 */

export interface SecretName {
  /** `connection`: the whole URL is secret. `virtual`: the value of a VIRTUAL_* variable. `phrase`: several words. */
  readonly kind: 'named' | 'env' | 'connection' | 'virtual' | 'phrase';
  /** Passwords may be short and made of letters; other secrets are random. */
  readonly password: boolean;
  /** A person may have chosen the value, so it may consist of words. */
  readonly chosen: boolean;
  /** The name alone is no proof: only a value that looks random counts. */
  readonly weak: boolean;
}

/** `apiKeyProd`, `password_2`, `token-old`: words after the significant one that change nothing. */
const SUFFIX =
  '(?:_(?:value|val|raw|text|plain|plaintext|string|str|b64|base64|encoded|data|confirm|confirmation|repeat|prod|production|dev|development|staging|stage|test|testing|live|sandbox|local|old|new|current|previous|prev|primary|secondary|main|backup|default|provided|v?\\d+))*$';

function ending(words: string): RegExp {
  return new RegExp(`(?:^|_)(?:${words})${SUFFIX}`);
}

const PASSWORD = ending(
  '[a-z0-9]*(?:pass_?word|passwd|passphrase|passcode|passwort|kennwort|contrasena|wachtwoord)|passe|(?:db|ssh|user|root|admin|my|mysql|pg|smtp|mail|ftp|redis|rabbitmq|key|store)?(?:pass|pwd)|[a-z]+_pw|requirepass|masterauth',
);
const TOKEN = ending('[a-z0-9]*token|jwt|psk|bearer|bearer_auth|authorization|auth_data|authdata');
const SECRET = ending(
  '[a-z0-9]*secret|[a-z0-9]*secret_(?:access_)?key|secrets|shared_access_signature|totp_seed|otp_seed',
);
const STRONG_KEYS =
  'api|app|application|access|secret|private|signing|signature|encryption|encrypt|decryption|master|account|auth|license|licence|hmac|aes|jwt|admin|storage|subscription|consumer|deploy|service|ssh|crypto|cipher|webhook|ingest|ingestion|integration|shared|shared_access|client_private|instrumentation|bot|fastly|service_role|pre_?shared';
const KEY = ending(
  `(?:${STRONG_KEYS})_?keys?|[a-z0-9]*(?:apikey|accesskey|privatekey|secretkey|authkey|masterkey|encryptionkey)|client_?key_?data|key_?data`,
);
const WEAK = ending(
  'auth|_auth|pw|credentials?|http_auth|basic_auth|(?:client|root|write|read|server|user)_key',
);
const PHRASE = ending('mnemonic|seed_phrase|recovery_phrase|secret_phrase');
const CONNECTION = ending('connection_?string|conn_?str(?:ing)?|dsn');
const CHOSEN = new RegExp(
  `^(?:(?:client|app|application|shared|webhook|signing|jwt|session|cookie|auth|api|oauth)_)?secret${SUFFIX}`,
);

/** Names that end like a secret's and have no secret value. */
const HARMLESS =
  /(?:^|_)(?:page|next|continuation|continue|sync|eos|bos|pad|unk|sep|mask|cls|stop|special|unexpected|start|end|first|last|previous|prev|max|min|per|resume|cursor|keyword|punctuator|design|color|fencing|lookahead|public|csrf|xsrf|unknown)_?token$|(?:^|_)(?:public|primary|foreign|partition|sort|cache)_?key|^(?:smtp|require|requires|no|use|needs|enable)_?auth$|^old_?pwd$/;

const ENV_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;
const ENV_SECRET =
  /(?:^|_)(?:[A-Z0-9]*(?:APIKEY|PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN)|PWD|PASS|KEY|KEYS|SECRETS|CREDENTIALS?|PRIVATE|AUTH|JWT)(?:_|\d*$)|_PAT$/;
/** Words after the secret's word that make the name a fact about the secret. */
const ENV_HARMLESS =
  /(?:^|_)(?:PATH|FILE|DIR|NAME|TYPE|LENGTH|SIZE|TTL|EXPIR\w*|COUNT|LIMIT|HEADER|FIELD|PREFIX|ALGORITHM|ALG|ENABLED|REQUIRED|MIN|MAX|AGE|POLICY|ISSUER|AUDIENCE|VERSION|PARALLELISM|FINGERPRINT|URL|URI|ENDPOINT|HOST|SERVICE|TIMEOUT|LIFETIME|ROTATION|BITS|FORMAT|REGEXP?|PATTERN|ARN|REF|SCHEME|METHOD|MODE|PROVIDER|DOMAIN|HINT|LABEL|HELPER|MS|SECONDS|MINUTES|HOURS|DAYS|SUBNETS?|CIDR|NETWORK|ZONE|VPC|REGISTRY|REPO|REPOSITORY|BRANCH)$|^GPG_KEYS?$|^(?:PRIMARY|FOREIGN|PUBLIC|SORT|PARTITION|CACHE|SSH_AUTH|MAX|MIN|OLD|NEXT)_|^(?:PWD|OLDPWD|SSH_AUTH_SOCK|XDG_\w+)$|PUBLIC_KEY|PUBLISHABLE|IDEMPOTENCY|PRIMARY_KEY|FOREIGN_KEY|CACHE_KEY/;
const ENV_CONNECTION =
  /(?:^|_)(?:DSN|DATABASE_URL|DB_URL|REDIS_URL|MONGO(?:DB)?_UR[IL]|AMQP_URL|POSTGRES_URL|MYSQL_URL|CONNECTION_STRING)$/;
/** Python's VIRTUAL_ENV is a path that every shell has. */
const ENV_VIRTUAL = /^VIRTUAL_(?!ENV(?:_|$))[A-Z0-9_]+$/;

/** Checked first, because most names contain none of these. */
const TELLING =
  /pass|pw|_pat$|psk|kennwort|contrasena|wachtwoord|secret|token|key|auth|cred|bearer|jwt|mnemonic|phrase|conn|seed|private|dsn|ur[il]$|virtual/i;

/** Undefined when a value of this name is not secret as such. `name` has at most 96 characters. */
export function secretNameOf(name: string): SecretName | undefined {
  if (!TELLING.test(name)) return undefined;
  if (name.length > 4 && ENV_NAME.test(name)) {
    const env = envName(name);
    if (env || name.includes('_')) return env;
  }
  if (name === 'PWD') return undefined;
  if (name === 'KEY') return { kind: 'named', ...RANDOM, weak: true };
  const words = nameWords(name);
  return HARMLESS.test(words) ? undefined : nameOfWords(words, name.startsWith('_'));
}

const RANDOM = { password: false, chosen: false, weak: false };

function nameOfWords(words: string, isInner: boolean): SecretName | undefined {
  const password = PASSWORD.test(words);
  if (password || TOKEN.test(words) || SECRET.test(words) || KEY.test(words))
    return { kind: 'named', password, chosen: password || CHOSEN.test(words), weak: false };
  if (PHRASE.test(words)) return { kind: 'phrase', password: true, chosen: true, weak: false };
  if (CONNECTION.test(words)) return { kind: 'connection', ...RANDOM, weak: true };
  return WEAK.test(words) ? { kind: 'named', ...RANDOM, weak: !isInner } : undefined;
}

function envName(name: string): SecretName | undefined {
  if (ENV_CONNECTION.test(name)) return { kind: 'connection', ...RANDOM };
  if (ENV_VIRTUAL.test(name)) return { kind: 'virtual', ...RANDOM };
  if (!ENV_SECRET.test(name) || ENV_HARMLESS.test(name) || HARMLESS.test(name.toLowerCase()))
    return undefined;
  const password = /PASS|PWD/.test(name);
  return { kind: 'env', password, chosen: password, weak: false };
}

/** `dbPassword`, `DB-Password` and `db.password` are `db_password`; a leading `_` stays. */
function nameWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .replace(/([A-Za-z])(\d+)$/, '$1_$2')
    .replace(/[-. $]+/g, '_')
    .toLowerCase();
}
