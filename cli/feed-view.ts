/**
 * Turns a session's events into what a person reads: the answer as it streams, and each step with its time and outcome.
 */
import type { StoredEvent } from '#domain/event.ts';
import type { Output } from './output.ts';
import { durationWords, oneLine, printable } from './text.ts';
import { createWrapper, wrapText } from './wrap.ts';

/** Where the view writes; `text` may end in the middle of a line, `line` begins on a fresh one. */
export interface FeedSink {
  text(piece: string): void;
  line(line: string): void;
  /** Ends an unfinished line. */
  end(): void;
}

/** Breaks lines between words for a terminal. */
export function wrapSink(sink: FeedSink, columns: () => number): FeedSink {
  const wrapper = createWrapper(columns);
  return {
    text: (piece) => sink.text(wrapper.push(piece)),
    line(line) {
      sink.text(wrapper.flush());
      sink.line(wrapText(line, columns()));
    },
    end() {
      sink.text(wrapper.flush());
      sink.end();
    },
  };
}

/** A sink that only prints. It separates lines from text that ended in the middle of one. */
export function createPlainSink(output: Pick<Output, 'stream' | 'columns'>): FeedSink {
  let atStart = true;
  const write = (text: string): void => {
    if (text === '') return;
    output.stream.write(text);
    atStart = text.endsWith('\n');
  };
  const sink: FeedSink = {
    text: write,
    line: (line) => write(`${atStart ? '' : '\n'}${line}\n`),
    end: () => write(atStart ? '' : '\n'),
  };
  return output.stream.isTTY ? wrapSink(sink, () => output.columns) : sink;
}

/** Describes a feed whose connection was cut or has returned. */
export function connectionLine({ paint }: Pick<Output, 'paint'>, reason: string | undefined): string {
  return paint('yellow', reason === undefined ? '… connected again' : `… ${reason} Trying again.`);
}

export interface FeedViewOptions {
  readonly sink: FeedSink;
  readonly output: Pick<Output, 'paint' | 'columns'>;
  /** Whether the model's answer is shown: `run` keeps it for stdout. */
  readonly answer: boolean;
  /** Whether messages that another sender put into the session are shown. */
  readonly received?: (messageId: string) => boolean;
  /** True if a request for approval is not shown, because the question in place shows it. */
  readonly isPromptedInPlace?: boolean;
}

interface Step {
  attempt: number;
  text: string;
}

/** Characters of one output event that are shown. */
const MAX_OUTPUT = 2_000;

export function createFeedView(options: FeedViewOptions): (event: StoredEvent) => void {
  const { sink, output } = options;
  const { paint } = output;
  const steps = new Map<string, Step>();
  const started = new Map<string, { at: number; summary: string }>();

  function delta(event: StoredEvent): void {
    const key = stepKey(event);
    const attempt = numberOf(event.data['attempt']) ?? 1;
    const step = steps.get(key) ?? { attempt, text: '' };
    if (attempt !== step.attempt) dropText(step, attempt);
    steps.set(key, step);
    const piece = printable(textOf(event.data['text']));
    step.text += piece;
    if (options.answer) sink.text(piece);
  }

  function dropText(step: Step, attempt: number): void {
    if (options.answer && step.text !== '')
      sink.line(
        paint('yellow', '↻ the model is asked again; what it said above in this step does not count'),
      );
    step.text = '';
    step.attempt = attempt;
  }

  function answered(event: StoredEvent): void {
    const key = stepKey(event);
    const text = printable(textOf(event.data['text']));
    const shown = steps.get(key)?.text ?? '';
    steps.delete(key);
    if (!options.answer || text === '') return;
    if (text.startsWith(shown)) {
      sink.text(text.slice(shown.length));
    } else {
      sink.line(paint('yellow', '↻ the whole answer:'));
      sink.text(text);
    }
    sink.end();
  }

  function toolStarted(event: StoredEvent): void {
    const summary = summaryOf(event, output.columns - 16);
    started.set(textOf(event.data['call_id']), { at: Date.parse(event.at), summary });
    sink.line(`${paint('cyan', '●')} ${summary}`);
  }

  function toolCompleted(event: StoredEvent): void {
    const id = textOf(event.data['call_id']);
    const begin = started.get(id);
    started.delete(id);
    const ms = numberOf(event.data['duration_ms']) ?? (begin ? Date.parse(event.at) - begin.at : undefined);
    const time = ms === undefined || Number.isNaN(ms) ? '' : paint('dim', ` ${durationWords(ms)}`);
    const summary =
      event.data['summary'] === undefined && begin ? begin.summary : summaryOf(event, output.columns - 28);
    if (event.data['ok'] === true) {
      sink.line(`${paint('green', '✔')} ${summary}${time}`);
    } else {
      const code = oneLine(textOf(event.data['code']) || 'failed', 40);
      sink.line(`${paint('red', '✘')} ${summary}${time} ${paint('red', code)}`);
    }
    const preview = oneLine(textOf(event.data['preview']), output.columns - 6);
    if (preview !== '') sink.line(paint('dim', `  ${preview}`));
  }

  const shows: Partial<Record<StoredEvent['type'], (event: StoredEvent) => void>> = {
    'turn.queued': () => sink.line(paint('dim', '… queued: another turn runs in this session')),
    'message.received': (event) => {
      if (options.received?.(textOf(event.data['message_id'])) === true)
        sink.line(`${paint('dim', 'message:')} ${oneLine(textOf(event.data['text']), output.columns - 12)}`);
    },
    'message.delta': delta,
    'message.reset': (event) => {
      const step = steps.get(stepKey(event));
      if (step) dropText(step, numberOf(event.data['attempt']) ?? step.attempt + 1);
      const [from, to, code] = [event.data['from'], event.data['to'], event.data['code']].map(textOf);
      if (from !== '')
        sink.line(paint('yellow', oneLine(`↷ ${from} failed (${code}), ${to} is asked`, output.columns)));
    },
    'message.completed': answered,
    'tool.started': toolStarted,
    'tool.output': (event) => sink.line(paint('dim', indentedOutput(event))),
    'tool.completed': toolCompleted,
    'approval.requested': (event) => {
      if (options.isPromptedInPlace) return;
      const reason = oneLine(textOf(event.data['reason']), 160);
      sink.line(
        `${paint('yellow', '?')} approval wanted: ${summaryOf(event, 120)}${reason ? paint('dim', ` (${reason})`) : ''}`,
      );
    },
    'approval.decided': (event) => sink.line(decidedLine(event, paint)),
    'turn.held': ({ data }) =>
      sink.line(
        paint('yellow', oneLine(`… held back until it is lifted: ${textOf(data['reason'])}`, output.columns)),
      ),
    'context.compacted': () => sink.line(paint('dim', '… the conversation was summed up to fit the model')),
    'memory.recorded': ({ data }) =>
      sink.line(paint('dim', `… kept in ${oneLine(textOf(data['path']), 60)}`)),
    'turn.failed': (event) => sink.line(`${paint('red', '✘ the turn failed:')} ${failureWords(event)}`),
    'turn.stopped': (event) => {
      const by = oneLine(textOf(event.data['by']), 60);
      sink.line(paint('magenta', `■ stopped${by ? ` by ${by}` : ''}`));
    },
  };

  return (event) => shows[event.type]?.(event);
}

function decidedLine(event: StoredEvent, paint: Output['paint']): string {
  const status = oneLine(textOf(event.data['status']), 30);
  const by = oneLine(textOf(event.data['by']), 60);
  const note = oneLine(textOf(event.data['note']), 160);
  const good = status === 'approved' || status === 'responded';
  const words = `${good ? '✔' : '✘'} approval ${status || 'decided'}${by ? ` by ${by}` : ''}${note ? `: ${note}` : ''}`;
  return paint(good ? 'green' : 'red', words);
}

/** Formats a `turn.failed` as `code: message`. */
export function failureWords(event: StoredEvent): string {
  const error = event.data['error'];
  const fields = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  return `${oneLine(textOf(fields['code']) || 'Failed', 60)}: ${oneLine(textOf(fields['message']), 600)}`;
}

function stepKey(event: StoredEvent): string {
  return `${event.turn_id ?? ''}/${String(event.data['step'] ?? '')}`;
}

function summaryOf(event: StoredEvent, columns: number): string {
  const words = textOf(event.data['summary']) || textOf(event.data['tool']) || 'a call';
  return oneLine(words, Math.max(20, columns));
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function indentedOutput(event: StoredEvent): string {
  return printable(textOf(event.data['text']).slice(-MAX_OUTPUT)).replace(/^/gm, '  │ ').trimEnd();
}
