/** One task of a board: what it is, what was said and done about it, and what a person may do. */
import { useSignal } from '@preact/signals';
import { afterTeam, useRequest } from '../../api/use-request.ts';
import { hrefOf, setSearch } from '../../app/router.ts';
import { bound } from '../../components/bound.tsx';
import { Button } from '../../components/button.tsx';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { Markdown } from '../../components/markdown.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { type Action, act, COLUMNS, type Task } from './task-actions.ts';

interface TaskViewProps {
  readonly task: Task;
  readonly members: readonly string[];
  readonly onChange: () => void;
}

const NEEDS_WORDS: ReadonlySet<Action> = new Set(['comment', 'clear_ask_user']);

export function TaskView({ task, members, onChange }: TaskViewProps) {
  const { team, id, number, subject, status, description, result, question, reason, lease } = task;
  const asks = question && `**Asks:** ${question}`;
  const texts = [description, asks, reason, result && `**Result:**\n\n${result}`];
  const words = useSignal('');
  const isBusy = useSignal(false);
  const run = async (action: Action, assignee?: string): Promise<void> => {
    isBusy.value = true;
    const text = words.value.trim();
    if (await act(task, action, { ...(text && { text }), ...(assignee && { assignee }) })) words.value = '';
    isBusy.value = false;
    onChange();
  };
  const button = (action: Action, member?: string) => (
    <Button
      key={member ?? action}
      scope="run"
      disabled={isBusy.value || (NEEDS_WORDS.has(action) && words.value.trim() === '')}
      aria-pressed={member === undefined ? undefined : task.assignee === member}
      onClick={() => void run(action, member)}
    >
      {member ?? (action === 'clear_ask_user' ? 'answer' : action)}
    </Button>
  );
  return (
    <article class="approval" aria-label={`Task ${number}`}>
      <Button class="quiet" onClick={() => setSearch({ task: '' })}>
        ← Board
      </Button>
      <CopyAs
        name="GET /v1/teams/{team}/tasks/{id}"
        parts={{ params: { team, id } }}
        command={['tasks', 'show', team, `${number}`]}
      />
      <h2>
        #{number} <ExactText text={subject} />
      </h2>
      {lease && lease.session_key !== null && (
        <a href={hrefOf('sessions', lease.session_key)}>{lease.member}’s session</a>
      )}
      {texts.map((text, at) => text && <Markdown key={at} text={text} />)}
      <div class="fields">
        <label for="task-words">Comment, answer, reason or result</label>
        <textarea id="task-words" maxLength={60_000} {...bound(words)} />
      </div>
      <div class="buttons" role="group" aria-label="Move">
        {button('comment')}
        {question && button('clear_ask_user')}
        {COLUMNS.flatMap(({ moves }) => moves[status] ?? []).map((action) => button(action))}
      </div>
      <div class="buttons" role="group" aria-label="Assign to">
        Assign to {members.map((member) => button('assign', member))}
      </div>
      <History team={team} id={id} number={number} />
    </article>
  );
}

function History({ team, id, number }: Pick<Task, 'team' | 'id' | 'number'>) {
  const refresh = afterTeam(team);
  const spoken = { params: { team, id }, query: { limit: 200 } };
  const comments = useRequest('GET /v1/teams/{team}/tasks/{id}/comments', spoken, refresh);
  const done = { params: { team }, query: { task: number, limit: 50 } };
  const events = useRequest('GET /v1/teams/{team}/events', done, refresh);
  return (
    <>
      {comments.data.value?.data.map(({ id: key, author, kind, text, created_at: at }) => (
        <div key={key} class="feed-message">
          <small>
            {author} · {kind} · <TimeAgo at={at} />
          </small>
          <Markdown text={text} />
        </div>
      ))}
      <h3>What was done</h3>
      {events.data.value?.data.map(({ id: key, action, actor, reason, at }) => (
        <p key={key} class="plain-text">
          {action} by {actor} <TimeAgo at={at} /> <ExactText text={reason ?? ''} />
        </p>
      ))}
    </>
  );
}
