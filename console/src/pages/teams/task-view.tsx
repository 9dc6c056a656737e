/** One task of a board: what it is, what was said and done about it, and what a person may do. */
import { useSignal } from '@preact/signals';
import { may } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf, setSearch } from '../../app/router.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { Markdown } from '../../components/markdown.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { act, type Action, COLUMNS, type Task } from './task-actions.ts';

interface TaskViewProps {
  readonly task: Task;
  readonly members: readonly string[];
  readonly onChange: () => void;
}

export function TaskView({ task, members, onChange }: TaskViewProps) {
  const { team, id, number, subject, status, description, result, question, reason, lease } = task;
  const texts = [
    description,
    question && `**Asks:** ${question}`,
    reason,
    result && `**Result:**\n\n${result}`,
  ];
  const words = useSignal('');
  const isBusy = useSignal(false);
  const run = async (action: Action, assignee?: string): Promise<void> => {
    isBusy.value = true;
    const text = words.value.trim();
    if (await act(task, action, { ...(text && { text }), ...(assignee && { assignee }) })) words.value = '';
    isBusy.value = false;
    onChange();
  };
  const why = may('run') ? undefined : 'Your key may not act: it lacks the scope run';
  const button = (action: Action, member?: string) => (
    <button
      key={member ?? action}
      type="button"
      title={why}
      disabled={isBusy.value || why !== undefined || (action === 'comment' && words.value.trim() === '')}
      aria-pressed={member === undefined ? undefined : task.assignee === member}
      onClick={() => void run(action, member)}
    >
      {member ?? action}
    </button>
  );
  return (
    <article class="approval" aria-label={`Task ${number}`}>
      <button type="button" class="quiet" onClick={() => setSearch({ task: '' })}>
        ← Board
      </button>
      <CopyAs
        name="GET /v1/teams/{team}/tasks/{id}"
        parts={{ params: { team, id } }}
        command={['tasks', 'show', team, `${number}`]}
      />
      <h2>
        #{number} <ExactText text={subject} />
      </h2>
      {lease && (
        <a href={hrefOf('sessions', `team:${team}:${number}:${lease.member}`)}>{lease.member}’s session</a>
      )}
      {texts.map((text, at) => text && <Markdown key={at} text={text} />)}
      <div class="fields">
        <label for="task-words">Comment, reason or result</label>
        <textarea
          id="task-words"
          maxLength={60_000}
          value={words.value}
          onInput={({ currentTarget }) => {
            words.value = currentTarget.value;
          }}
        />
      </div>
      <div class="buttons" role="group" aria-label="Move">
        {button('comment')}
        {COLUMNS.flatMap(({ moves }) => moves[status] ?? []).map((action) => button(action))}
      </div>
      <div class="buttons" role="group" aria-label="Assign to">
        Assign to {members.map((member) => button('assign', member))}
      </div>
      <History team={team} id={id} number={number} />
    </article>
  );
}

const REFRESH = { everyMs: 2_000 };

function History({ team, id, number }: Pick<Task, 'team' | 'id' | 'number'>) {
  const spoken = { params: { team, id }, query: { limit: 200 } };
  const comments = useRequest('GET /v1/teams/{team}/tasks/{id}/comments', spoken, REFRESH);
  const done = { params: { team }, query: { task: number, limit: 50 } };
  const events = useRequest('GET /v1/teams/{team}/events', done, REFRESH);
  return (
    <>
      {comments.data.value?.data.map((comment) => (
        <div key={comment.id} class="feed-message">
          <small>
            {comment.author} · {comment.kind} · <TimeAgo at={comment.created_at} />
          </small>
          <Markdown text={comment.text} />
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
