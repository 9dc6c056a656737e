/**
 * Maps environment variables to keys. The environment is a parameter, so this stays a plain function; only config.ts
 * passes process.env.
 */
import { PROVIDER_ADDRESSES } from '#domain/model/provider-address.ts';
import type { ValueKind, Variable } from './section.ts';
import { SECTIONS } from './sections.ts';
import type { Layer } from './layer.ts';
import { setAt } from './layer.ts';

/** An environment as Node provides it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as unset, as in a compose file. */
const VARIABLES: readonly Variable[] = [
  [['TEMPOCLAW_STATE_DIR'], 'stateDir', 'text'],
  [['TEMPOCLAW_WORKSPACE_ROOT'], 'workspaceRoot', 'text'],
  [['TEMPOCLAW_WORKSPACES_FOLLOW'], 'workspaces.follow', 'text'],
  [['TEMPOCLAW_WORKSPACES_STORE'], 'workspaces.store', 'text'],
  [['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'], 'workspaces.s3.endpoint', 'text'],
  [['AWS_REGION', 'AWS_DEFAULT_REGION'], 'workspaces.s3.region', 'text'],
  [['AWS_ACCESS_KEY_ID'], 'workspaces.s3.accessKeyId', 'text'],
  [['AWS_SECRET_ACCESS_KEY'], 'workspaces.s3.secretAccessKey', 'text'],
  [['TEMPOCLAW_HOST'], 'api.host', 'text'],
  [['TEMPOCLAW_PORT'], 'api.port', 'number'],
  [['TEMPOCLAW_PUBLIC_URL'], 'api.publicUrl', 'text'],
  [['TEMPOCLAW_RATE_LIMIT_PER_MINUTE'], 'api.rateLimitPerMinute', 'number'],
  [['TEMPOCLAW_BODY_LIMIT_BYTES'], 'api.bodyLimitBytes', 'number'],
  [['TEMPOCLAW_CORS_ORIGINS'], 'api.corsOrigins', 'list'],
  [['TEMPOCLAW_ALLOWED_HOSTS'], 'api.allowedHosts', 'list'],
  [['TEMPOCLAW_TRUSTED_PROXIES'], 'api.trustedProxies', 'list'],
  [['TEMPOCLAW_TASK_QUEUE'], 'temporal.taskQueue', 'text'],
  [['TEMPOCLAW_TEMPORAL_UI_URL', 'TEMPORAL_UI_URL'], 'temporal.uiUrl', 'text'],
  [['TEMPOCLAW_LINGER_SECONDS'], 'temporal.lingerSeconds', 'number'],
  [['TEMPOCLAW_TEMPORAL_PORT'], 'temporal.port', 'number'],
  [['TEMPOCLAW_TEMPORAL_UI_PORT'], 'temporal.uiPort', 'number'],
  [['DATABASE_URL', 'POSTGRES_URL'], 'database.url', 'text'],
  [['TEMPOCLAW_DATABASE_POOLER_URL'], 'database.poolerUrl', 'text'],
  [['TEMPOCLAW_DATABASE_PASSWORD'], 'database.password', 'text'],
  [['TEMPOCLAW_DATABASE_POOL_SIZE'], 'database.poolSize', 'number'],
  [['TEMPOCLAW_DATABASE_PORT'], 'database.port', 'number'],
  [['TEMPOCLAW_MAX_CACHED_WORKFLOWS'], 'worker.maxCachedWorkflows', 'number'],
  [['TEMPOCLAW_MAX_CONCURRENT_ACTIVITIES'], 'worker.maxConcurrentActivities', 'number'],
  [['TEMPOCLAW_MAX_CONCURRENT_MODEL_CALLS'], 'worker.maxConcurrentModelCalls', 'number'],
  [['TEMPOCLAW_MAX_CONCURRENT_WORKFLOW_TASKS'], 'worker.maxConcurrentWorkflowTasks', 'number'],
  [['TEMPOCLAW_SHUTDOWN_GRACE_SECONDS'], 'worker.shutdownGraceSeconds', 'number'],
  [['TEMPOCLAW_LEAN_WORKER'], 'worker.lean', 'boolean'],
  [['TEMPOCLAW_FAST_PATH'], 'worker.fastPath', 'boolean'],
  [['TEMPOCLAW_WORKER_METRICS'], 'worker.metricsAddress', 'text'],
  [['TEMPOCLAW_DEPLOYMENT_NAME'], 'worker.deploymentName', 'text'],
  [['TEMPOCLAW_CLOSED_PORTS'], 'worker.closedPorts', 'list'],
  [['TEMPOCLAW_COMMAND_PROCESSES'], 'worker.commands.processes', 'number'],
  [['TEMPOCLAW_COMMAND_MEMORY'], 'worker.commands.memory', 'text'],
  [['TEMPOCLAW_COMMAND_DISK'], 'worker.commands.disk', 'text'],
  [['TEMPOCLAW_MODEL'], 'models.default', 'text'],
  [['TEMPOCLAW_EMBEDDING_MODEL', 'EMBEDDING_MODEL'], 'models.embedding', 'text'],
  [['TEMPOCLAW_VISION_MODELS'], 'models.vision', 'list'],
  [['TEMPOCLAW_TRANSCRIPTION_MODEL'], 'models.transcription', 'text'],
  [['TEMPOCLAW_REHEARSAL_DIR'], 'rehearsal.dir', 'text'],
  [['TEMPOCLAW_APPROVAL_EXPIRY_SECONDS'], 'approvals.expirySeconds', 'number'],
  [['TEMPOCLAW_DECISION_TOKEN_REQUIRED'], 'approvals.decisionToken.required', 'boolean or auto'],
  [['TEMPOCLAW_DECISION_TOKEN_SECRET'], 'approvals.decisionToken.secret', 'text'],
  [['TEMPOCLAW_SHARED_SESSIONS'], 'sessions.shared', 'boolean'],
  [['TEMPOCLAW_MAX_SUBAGENTS'], 'subagents.maxConcurrent', 'number'],
  [['TEMPOCLAW_SANDBOX'], 'sandbox.mode', 'text'],
  [['TEMPOCLAW_SANDBOX_IMAGE'], 'sandbox.image', 'text'],
  [['TEMPOCLAW_DOCKER_HOST', 'DOCKER_HOST'], 'sandbox.dockerHost', 'text'],
  [['TEMPOCLAW_EGRESS_ALLOW_PRIVATE'], 'egress.allowPrivate', 'list'],
  [['TEMPOCLAW_ENCRYPTION_KEY'], 'encryption.key', 'text'],
  [['TEMPOCLAW_PREVIOUS_ENCRYPTION_KEYS'], 'encryption.previousKeys', 'list'],
  [['TEMPOCLAW_LOG_LEVEL', 'LOG_LEVEL'], 'log.level', 'text'],
  [['TEMPOCLAW_OPENAI_API'], 'models.providers.openai.api', 'text'],
  ...SECTIONS.flatMap(({ variables }) => variables ?? []),
];

interface ProviderVariables {
  readonly name: string;
  readonly type: string;
  readonly keys: readonly string[];
  readonly urls: readonly string[];
  /** The base URL if the provider's own SDK has no default for it. */
  readonly usualUrl?: string;
  /** True for a server on the user's own machine, which needs no key, so its URL alone makes a provider. */
  readonly keyless?: boolean;
}

/** MO-1: the providers and the variables that their own tools read. */
const PROVIDERS: readonly ProviderVariables[] = [
  { name: 'anthropic', type: 'anthropic', keys: ['ANTHROPIC_API_KEY'], urls: ['ANTHROPIC_BASE_URL'] },
  {
    name: 'openai',
    type: 'openai',
    keys: ['OPENAI_API_KEY'],
    urls: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
    keyless: true,
  },
  {
    name: 'google',
    type: 'google',
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    urls: ['GOOGLE_GENERATIVE_AI_BASE_URL', 'GEMINI_BASE_URL'],
  },
  compatible('OPENROUTER', PROVIDER_ADDRESSES.openrouter),
  compatible('DASHSCOPE', PROVIDER_ADDRESSES.dashscope),
  compatible('MINIMAX', PROVIDER_ADDRESSES.minimax),
  {
    ...compatible('OLLAMA', PROVIDER_ADDRESSES.ollama),
    urls: ['OLLAMA_BASE_URL', 'OLLAMA_HOST'],
    keyless: true,
  },
  // This provider serves `models.embedding`, whichever provider answers turns.
  { ...compatible('EMBEDDING'), keyless: true },
  // This provider serves `models.transcription` in the same way.
  { ...compatible('TRANSCRIBE', PROVIDER_ADDRESSES.openai), keyless: true },
];

/** An OpenAI-compatible provider whose variables begin with its name. */
function compatible(name: string, usualUrl?: string): ProviderVariables {
  const type = 'openai-compatible';
  return { name: name.toLowerCase(), type, keys: [`${name}_API_KEY`], urls: [`${name}_BASE_URL`], usualUrl };
}

/** Every variable that configures models; docker-compose.yml passes them on. */
export const MODEL_VARIABLES: readonly string[] = [
  ...VARIABLES.filter(([, key]) => key.startsWith('models.')).flatMap(([names]) => names),
  ...PROVIDERS.flatMap(({ keys, urls }) => [...keys, ...urls]),
];

/** Base URLs of providers that the file names without one, by provider name. */
export const USUAL_BASE_URLS: Readonly<Record<string, string>> = Object.fromEntries(
  PROVIDERS.flatMap((entry) => (entry.usualUrl === undefined ? [] : [[entry.name, entry.usualUrl]])),
);

/** Settings read from the environment. `problems` names each variable whose value cannot be parsed. */
export function readEnvironment(env: Environment, inFile: ReadonlySet<string>): Layer {
  const layer: Layer = { values: {}, origins: new Map(), problems: [] };
  for (const [variables, key, kind] of VARIABLES) {
    const found = firstSet(env, variables);
    if (found === undefined) continue;
    const value = parseText(found.value, kind);
    if (value === undefined) layer.problems.push(`${found.name}: "${found.value}" is not ${EXPECTED[kind]}`);
    else setAt(layer, key, value, found.name);
  }
  for (const entry of PROVIDERS) readProvider(env, entry, inFile.has(entry.name), layer);
  return layer;
}

function readProvider(env: Environment, entry: ProviderVariables, inFile: boolean, layer: Layer): void {
  const key = firstSet(env, entry.keys);
  const url = firstSet(env, entry.urls);
  // A base URL alone is no provider, because other programs set ANTHROPIC_BASE_URL without a key.
  if (key === undefined && !(url !== undefined && (entry.keyless === true || inFile))) return;
  const base = `models.providers.${entry.name}`;
  if (!inFile) setAt(layer, `${base}.type`, entry.type, key?.name ?? url?.name ?? entry.name);
  if (key !== undefined) setAt(layer, `${base}.apiKey`, key.value, key.name);
  if (url !== undefined)
    setAt(
      layer,
      `${base}.baseUrl`,
      entry.name === 'ollama' ? ollamaUrl(url.value) : withoutSlash(url.value),
      url.name,
    );
}

function firstSet(
  env: Environment,
  variables: readonly string[],
): { name: string; value: string } | undefined {
  for (const name of variables) {
    const value = env[name]?.trim();
    if (value !== undefined && value !== '') return { name, value };
  }
  return undefined;
}

const EXPECTED: Readonly<Record<ValueKind, string>> = {
  text: 'text',
  number: 'a number',
  boolean: 'true or false (also yes/no, on/off, 1/0)',
  'boolean or auto': 'true, false or auto',
  list: 'a list separated by commas',
};

function parseText(text: string, kind: ValueKind): unknown {
  if (kind === 'text') return text;
  if (kind === 'number') return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  if (kind === 'boolean or auto' && /^auto$/i.test(text)) return 'auto';
  if (kind !== 'list') return parseBoolean(text);
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function parseBoolean(text: string): boolean | undefined {
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  if (/^(false|no|off|0)$/i.test(text)) return false;
  return undefined;
}

/** OLLAMA_HOST may be a bare host, host:port, or the address a server binds to. */
function ollamaUrl(text: string): string {
  const full = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(full)) return full;
  const url = new URL(full);
  if (url.port === '' && url.protocol === 'http:' && !/:80\b/.test(text)) url.port = '11434';
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  if (url.pathname === '/') url.pathname = '/v1';
  return withoutSlash(url.href);
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
