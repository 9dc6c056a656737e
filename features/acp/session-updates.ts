/** Events of a session as updates of ACP. */
import type { Diff, SessionUpdate, ToolCall, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import type { StoredEvent } from '#domain/event.ts';
import { isRecord } from '#domain/outside-value.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
import { heldWords } from '#domain/turn/held-turn.ts';

/** Characters of a command's output that an update shows. */
const MAX_OUTPUT = 8_000;

export type TakeEvent = (event: StoredEvent) => SessionUpdate[];

/** `edits`: what calls have changed in the editor's files, until their results are shown. */
export function createSessionUpdates(edits: Map<string, Diff>): TakeEvent {
  const write = createWriting();
  const calls = new Set<string>();
  const outputs = new Map<string, string>();

  function show(call: ToolCall): SessionUpdate {
    if (calls.has(call.toolCallId)) return { sessionUpdate: 'tool_call_update', ...call };
    calls.add(call.toolCallId);
    return { sessionUpdate: 'tool_call', ...call };
  }

  function complete(id: string, data: StoredEvent['data']): SessionUpdate {
    const edit = edits.get(id);
    outputs.delete(id);
    edits.delete(id);
    return show({ ...callOf(id, data), ...resultOf(data), ...(edit && editContent(edit)) });
  }

  return (event) => {
    const { type, data } = event;
    const id = text(data['call_id']);
    switch (type) {
      case 'message.delta':
      case 'message.completed':
      case 'message.reset':
        return write(event);
      case 'message.thinking':
        return [
          { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: text(data['text']) } },
        ];
      case 'turn.held':
        return [{ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: heldWords(data) } }];
      case 'approval.requested':
        return [show({ ...callOf(id, data), status: 'pending', rawInput: data['args'] })];
      case 'tool.started':
        return [show({ ...callOf(id, data), status: 'in_progress' })];
      case 'tool.output': {
        const output = `${outputs.get(id) ?? ''}${text(data['text'])}`.slice(-MAX_OUTPUT);
        outputs.set(id, output);
        return [{ sessionUpdate: 'tool_call_update', toolCallId: id, content: textContent(output) }];
      }
      case 'tool.completed':
        return [complete(id, data)];
      case 'approval.decided': {
        // The result of another session's call is in its own feed.
        if (!isRecord(data['subagent']) && !isRecord(data['delegation'])) return [];
        const status = data['status'] === 'approved' ? 'completed' : 'failed';
        return [{ sessionUpdate: 'tool_call_update', toolCallId: id, status }];
      }
      default:
        return [];
    }
  };
}

function editContent(edit: Diff): Pick<ToolCall, 'content' | 'locations'> {
  return { content: [{ type: 'diff', ...edit }], locations: [{ path: edit.path }] };
}

function resultOf({ ok, code, preview }: StoredEvent['data']): Pick<ToolCall, 'status' | 'content'> {
  const words = [ok === true ? '' : text(code), text(preview)];
  return {
    status: ok === true ? 'completed' : 'failed',
    content: textContent(words.filter(Boolean).join(': ')),
  };
}

/** What is written again, by another model or in another attempt, is another message. */
function createWriting(): TakeEvent {
  let place = '';
  let part = 0;
  let written = '';
  const chunk = (words: string): SessionUpdate[] => {
    written += words;
    const messageId = `${place}.${part}`;
    if (words === '') return [];
    return [{ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: words } }];
  };
  const begin = (next: string): void => {
    place = next;
    part += 1;
    written = '';
  };
  return ({ type, turn_id: turn, data }) => {
    const step = `${turn}.${text(data['step'])}`;
    if (type === 'message.reset') begin(place);
    else if (type === 'message.delta') {
      const next = `${step}.${text(data['attempt'])}`;
      if (next !== place) begin(next);
      return chunk(text(data['text']));
    } else {
      if (!place.startsWith(`${step}.`)) begin(`${step}.`);
      const whole = text(data['text']);
      if (whole.startsWith(written)) return chunk(whole.slice(written.length));
      // The feed was opened in the middle of it.
      if (!whole.endsWith(written)) return [];
      begin(place);
      return chunk(whole);
    }
    return [];
  };
}

export function callOf(toolCallId: string, { tool, summary }: Readonly<Record<string, unknown>>) {
  const name = text(tool);
  return { toolCallId, title: showHidden(text(summary)) || name, kind: kindOf(name) };
}

export function textContent(words: string): ToolCallContent[] {
  return words === '' ? [] : [{ type: 'content', content: { type: 'text', text: words } }];
}

const KINDS: ReadonlyMap<string, ToolKind> = new Map<string, ToolKind>([
  ['read_file', 'read'],
  ['read_text_file', 'read'],
  ['list_files', 'read'],
  ['write_file', 'edit'],
  ['write_text_file', 'edit'],
  ['edit', 'edit'],
  ['glob', 'search'],
  ['search', 'search'],
  ['web_search', 'search'],
  ['web_fetch', 'fetch'],
  ['exec', 'execute'],
]);

function kindOf(tool: string): ToolKind {
  return KINDS.get(tool) ?? 'other';
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
