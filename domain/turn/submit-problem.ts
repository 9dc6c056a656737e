/** Whether another system's payload is a message or a stop. It uses no zod, because workflows bundle it. */
import { isMessageId } from '../ids.ts';
import { type Fields, isRecord, isStorable, isText } from '../outside-value.ts';
import { INBOX_LIMITS, STOP_LEVELS, SUBMIT_MODES } from './turn.ts';

/** Undefined when the payload is a message; otherwise what is wrong with it. */
export function submitProblem(input: unknown): string | undefined {
  if (!isRecord(input)) return 'a message is an object such as {"id":"m-1","text":"hello"}';
  if (!isMessageId(input['id']))
    return 'id must be 1 to 128 letters, digits, ".", "_", ":" or "-", and new for each message';
  const mode = input['mode'];
  if (mode !== undefined && !SUBMIT_MODES.some((known) => known === mode))
    return `mode must be one of ${SUBMIT_MODES.join(', ')}`;
  return textProblem(input['text']) ?? wordsProblem(input) ?? toolsProblem(input['allowed_tools']);
}

/** Whether a stop has a scope and names a turn. */
export function isStop(input: unknown): boolean {
  if (!isRecord(input)) return false;
  return typeof input['turn_id'] === 'string' && STOP_LEVELS.some((level) => level === input['level']);
}

function textProblem(text: unknown): string | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || text.trim() === '') return 'text must not be empty';
  if (!isStorable(text)) return 'text must not hold the character NUL or half a surrogate pair';
  if (new TextEncoder().encode(text).length > INBOX_LIMITS.textBytes)
    return `text may have ${INBOX_LIMITS.textBytes} bytes; send longer ones over the HTTP API`;
  return undefined;
}

/** Characters that Temporal's SQL stores keep of a search attribute: they refuse a run with a longer one. */
const MAX_WORDS = 255;

function wordsProblem(input: Fields): string | undefined {
  const wrong = ['agent', 'user', 'channel', 'chat_id', 'preview', 'turn_id'].find((field) => {
    return input[field] !== undefined && !isText(input[field], MAX_WORDS);
  });
  return wrong && `${wrong} must be plain text of at most ${MAX_WORDS} characters`;
}

function toolsProblem(tools: unknown): string | undefined {
  if (tools === undefined) return undefined;
  const isList = Array.isArray(tools) && tools.length <= 200 && tools.every((tool) => isText(tool, 128));
  return isList ? undefined : 'allowed_tools must be a list of at most 200 names';
}
