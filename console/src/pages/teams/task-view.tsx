/** One task of a board: what it is, what was said and done about it, and what a person may do. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useRequest } from '../../api/use-request.ts';
import { may } from '../../api/session.ts';
import { hrefOf, setSearch } from '../../app/router.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { Markdown } from '../../components/markdown.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { act, type Action, actionsOf, type Task } from './task-actions.ts';

interface TaskViewProps {
  readonly task: Task;
  readonly members: readonly string[];
  readonly onChange: () => void;
}

const REFRESH_MS = 4_000;

export function TaskView({ task, members, onChange }: TaskViewProps) {
  const { team, id, number, subject, description, result, question, reason, lease } = task;
  const params = { team, id };
  /** Counts what this person has done, after which the history is read at once. */
  const spoken = useSignal(0);
  const words = useSignal('');
  const isBusy = useSignal(false);
  const run = async (action: Action, assignee?: string): Promise<void> => {
    isBusy.value = true;
    const text = words.value.trim();
    if (await act(task, action, { ...(text && { text }), ...(assignee && { assignee }) })) words.value = '';
    isBusy.value = false;
    spoken.value += 1;
    onChange();
  };
  const why = may('run') ? undefined : 'Your key may not act: it lacks the scope run';
  const shared = { type: 'button', title: why, disabled: isBusy.value || why !== undefined } as const;
  const texts = [
    description,
    question && `**Asks:** ${question}`,
    reason,
    result && `**Result:**\n\n${result}`,
  ];
  return (
    <article class="approval" aria-label={`Task ${number}`}>
      <button type="button" class="quiet" onClick={() => setSearch({ task: '' })}>
        ← Board
      </button>
      <CopyAs
        name="GET /v1/teams/{team}/tasks/{id}"
        parts={{ params }}
        command={['tasks', 'show', team, `${number}`]}
      />
      <h2>
        #{number} <ExactText text={subject} />
      </h2>
      {lease && (
        <p>
          Held in{' '}
          <a href={hrefOf('sessions', `team:${team}:${number}:${lease.member}`)}>{lease.member}’s session</a>
          {lease.until && ` until ${new Date(lease.until).toLocaleString()}`}
        </p>
      )}
      {texts.map((text, at) => text && <Markdown key={at} text={text} />)}
      <div class="fields">
        <label for="task-words">Comment, reason or result</label>
        <textarea
          id="task-words"
          rows={2}
          maxLength={60_000}
          value={words.value}
          onInput={({ currentTarget }) => {
            words.value = currentTarget.value;
          }}
        />
      </div>
      <div class="buttons" role="group" aria-label="Move">
        {actionsOf(task).map((action) => (
          <button key={action} {...shared} onClick={() => void run(action)}>
            {action}
          </button>
        ))}
        <button
          {...shared}
          disabled={shared.disabled || words.value.trim() === ''}
          onClick={() => void run('comment')}
        >
          comment
        </button>
      </div>
      <div class="buttons" role="group" aria-label="Assign to">
        Assign to
        {members.map((member) => (
          <button
            key={member}
            {...shared}
            aria-pressed={task.assignee === member}
            onClick={() => void run('assign', member)}
          >
            {member}
          </button>
        ))}
      </div>
      <History team={team} id={id} number={number} spoken={spoken.value} />
    </article>
  );
}

interface HistoryProps extends Pick<Task, 'team' | 'id' | 'number'> {
  readonly spoken: number;
}

function History({ team, id, number, spoken }: HistoryProps) {
  const comments = useRequest(
    'GET /v1/teams/{team}/tasks/{id}/comments',
    { params: { team, id }, query: { limit: 200 } },
    { everyMs: REFRESH_MS },
  );
  const events = useRequest(
    'GET /v1/teams/{team}/events',
    { params: { team }, query: { task: number, limit: 50 } },
    { everyMs: REFRESH_MS },
  );
  const { reload } = comments;
  useEffect(reload, [spoken, reload]);
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
      <details>
        <summary>What was done</summary>
        {events.data.value?.data.map(({ id: key, action, actor, reason: words, at }) => (
          <p key={key} class="plain-text">
            {action} by {actor} <TimeAgo at={at} /> {words && <ExactText text={words} />}
          </p>
        ))}
      </details>
    </>
  );
}
