/**
 * One model call through `ai`: our request to its prompt, its stream to our answer. Temporal retries and our own
 * activities run tools, so the SDK makes exactly one request and no tool has an `execute`.
 */
import {
  type JSONSchema7,
  jsonSchema,
  type LanguageModelMiddleware,
  type LanguageModelUsage,
  streamText,
  type ToolSet,
  type TextStreamPart,
  wrapLanguageModel,
} from 'ai';
import {
  type ModelAnswer,
  ModelError,
  type ModelRequest,
  type OfferedTool,
  type Usage,
} from '#domain/model/model.ts';
import { type RequestedCall, nestingProblem, readArguments } from './requested-call.ts';
import { type ErrorContext, toModelError } from './model-error.ts';
import { estimateAnswerTokens, estimatePromptTokens } from './prompt-size.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { createPatience, guardedFetch } from './guarded-fetch.ts';
import { createWireNames, type WireNames } from './wire-names.ts';
import { wirePrompt } from './wire-prompt.ts';

type ProviderOptions = NonNullable<Parameters<typeof streamText>[0]['providerOptions']>;

type WrapStream = NonNullable<LanguageModelMiddleware['wrapStream']>;
type StreamPart = Awaited<ReturnType<WrapStream>>['stream'] extends ReadableStream<infer Part> ? Part : never;
type SdkModel = Parameters<typeof wrapLanguageModel>[0]['model'];

export interface SdkCall {
  readonly settings: ProviderSettings;
  /** The key that is sent; it is removed from messages. */
  readonly apiKey: string | undefined;
  readonly createModel: (fetch: typeof globalThis.fetch) => SdkModel;
  readonly headers?: Readonly<Record<string, string>>;
  /** Options for the whole request. */
  readonly options?: ProviderOptions;
  /** Set on the system prompt and on the last message: Anthropic's marks of what to cache. */
  readonly cacheMarks?: ProviderOptions;
  /** Results may contain images; otherwise they follow as the user's. */
  readonly imagesInResults?: boolean;
}

/** More text than any model writes in one answer; a server that sends more is broken. */
const MAX_TEXT_CHARS = 4_000_000;

// The SDK prints its warnings to the console, which contains our logs.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

/** @throws ModelError for every failure; the signal's own reason when `request.signal` aborted the call. */
export async function generateWithAiSdk(call: SdkCall, request: ModelRequest): Promise<ModelAnswer> {
  request.signal.throwIfAborted();
  const { settings } = call;
  const context = { provider: settings.name, model: request.model, apiKey: call.apiKey };
  const names = createWireNames(
    request.tools.map((tool) => tool.name),
    settings.toolCallPrefix,
  );
  const patience = createPatience(settings);
  try {
    const { fullStream } = streamText({
      model: wrapLanguageModel({
        model: call.createModel(guardedFetch(settings.name)),
        middleware: FLAT_ARGUMENTS,
      }),
      messages: markLast(
        wirePrompt(request.messages, names, request.images, call.imagesInResults),
        call.cacheMarks,
      ),
      instructions: request.system
        ? {
            role: 'system' as const,
            content: request.system,
            providerOptions: call.cacheMarks,
          }
        : undefined,
      tools: request.tools.length > 0 ? toToolSet(request.tools, names) : undefined,
      maxOutputTokens: request.maxOutputTokens,
      reasoning: request.thinking,
      providerOptions: call.options,
      headers: call.headers,
      abortSignal: AbortSignal.any([request.signal, patience.signal]),
      maxRetries: 0,
      // Errors are read from the stream; the default prints them with the whole request.
      onError: () => undefined,
    });
    return await readStream(fullStream, { request, names, context, markContent: patience.markContent });
  } catch (error) {
    request.signal.throwIfAborted();
    throw toModelError(patience.signal.aborted ? patience.signal.reason : error, context);
  } finally {
    patience.end();
  }
}

/** The SDK walks a call's arguments recursively: for too deep ones a text replaces them. */
const FLAT_ARGUMENTS: LanguageModelMiddleware = {
  async wrapStream({ doStream }) {
    const { stream, ...rest } = await doStream();
    const flat = stream.pipeThrough(
      new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          const problem = part.type === 'tool-call' ? nestingProblem(part.input) : undefined;
          controller.enqueue(problem ? ({ ...part, input: JSON.stringify(problem) } as StreamPart) : part);
        },
      }),
    );
    return { ...rest, stream: flat };
  },
};

function markLast<Message extends object>(
  messages: Message[],
  marks: ProviderOptions | undefined,
): Message[] {
  const last = messages.at(-1);
  return marks && last ? [...messages.slice(0, -1), { ...last, providerOptions: marks }] : messages;
}

function toToolSet(tools: readonly OfferedTool[], names: WireNames): ToolSet {
  return Object.fromEntries(
    tools.map((tool) => [
      names.toWire(tool.name),
      { description: tool.description, inputSchema: jsonSchema(toSchema(tool.parameters)) },
    ]),
  );
}

/** Some servers refuse `$schema`, and most refuse a schema without `type`. */
function toSchema(parameters: OfferedTool['parameters']): JSONSchema7 {
  const { $schema: _, ...schema } = parameters;
  return { properties: {}, ...schema, type: 'object' };
}

interface Gathered {
  text: string;
  calls: RequestedCall[];
  usage: Usage;
  finish: string;
  /** The provider's own value; absent when the stream ended without one. */
  rawFinish: string | undefined;
}

interface Reading {
  readonly request: ModelRequest;
  readonly names: WireNames;
  readonly context: ErrorContext;
  readonly markContent: () => void;
}

/** Whether the model produces output. The mere start of a part is none: a long silence after it is usual. */
function hasContent(part: TextStreamPart<ToolSet>): boolean {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta') return part.text !== '';
  if (part.type === 'tool-input-delta') return part.delta !== '';
  return part.type === 'tool-input-start' || part.type === 'tool-call' || part.type === 'file';
}

async function readStream(
  stream: AsyncIterable<TextStreamPart<ToolSet>>,
  reading: Reading,
): Promise<ModelAnswer> {
  const { request, names, context } = reading;
  const gathered: Gathered = {
    text: '',
    calls: [],
    usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
    finish: 'other',
    rawFinish: undefined,
  };
  for await (const part of stream) {
    if (hasContent(part)) reading.markContent();
    if (part.type === 'text-delta') {
      gathered.text += part.text;
      if (gathered.text.length > MAX_TEXT_CHARS)
        throw new ModelError('TooLarge', `${context.provider} sent more than ${MAX_TEXT_CHARS} characters`);
      if (part.text) request.onDelta(part.text);
    } else if (part.type === 'reasoning-delta') {
      if (part.text) request.onThinking?.(part.text);
    } else if (part.type === 'tool-call') {
      // An unknown name is kept: our own policy refuses it and informs the model.
      gathered.calls.push({ name: names.fromWire(part.toolName), ...readArguments(part.input) });
    } else if (part.type === 'error') {
      throw part.error;
    } else if (part.type === 'abort') {
      request.signal.throwIfAborted();
      throw new ModelError('Unreachable', `The stream of ${context.provider} was aborted`);
    } else if (part.type === 'finish-step') {
      gathered.finish = part.finishReason;
      gathered.rawFinish = part.rawFinishReason;
      gathered.usage = readUsage(part.usage, request, gathered);
    }
  }
  request.signal.throwIfAborted();
  return toAnswer(gathered, context);
}

/** For servers that report no usage it is estimated: the use of a call is never taken as zero. */
function readUsage(counted: LanguageModelUsage, request: ModelRequest, answer: Gathered): Usage {
  return {
    inputTokens: counted.inputTokens || estimatePromptTokens(request),
    outputTokens: counted.outputTokens || estimateAnswerTokens(answer),
    cachedInputTokens: counted.inputTokenDetails.cacheReadTokens ?? 0,
  };
}

/** The regular finish reasons; a server's own one counts as a finish when there is output. */
const FINISHED: ReadonlySet<string> = new Set(['stop', 'tool-calls', 'length', 'content-filter']);

function toAnswer(gathered: Gathered, { provider, model }: ErrorContext): ModelAnswer {
  const { text, calls, usage, finish, rawFinish } = gathered;
  const empty = text === '' && calls.length === 0;
  const counted = usage.inputTokens > 0 ? { usage } : {};
  if (finish === 'content-filter' && empty) {
    throw new ModelError(
      'Filtered',
      `${provider} (${model}) refused to answer: ${rawFinish ?? 'content filter'}`,
      counted,
    );
  }
  // A connection that closes in mid-stream looks like an end, except that the reason is missing.
  const known = FINISHED.has(finish) || (finish === 'other' && rawFinish !== undefined && !empty);
  if (!known) {
    const reason = rawFinish ?? 'its stream ended without saying why';
    throw new ModelError('BadAnswer', `${provider} (${model}) did not finish its answer: ${reason}`, counted);
  }
  if (calls.length > 0) return { text, calls, usage, finish: 'calls' };
  if (finish === 'length') return { text, calls, usage, finish: 'length' };
  return { text, calls, usage, finish: finish === 'content-filter' ? 'filtered' : 'stop' };
}
