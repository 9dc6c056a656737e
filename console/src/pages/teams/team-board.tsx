/** The board of a team: its tasks by status. They are moved by drag, or with the buttons of the task that is chosen. */
import { useSignal } from '@preact/signals';
import { useRequest } from '../../api/use-request.ts';
import { may } from '../../api/session.ts';
import { currentSearch, hrefOf, type PageProps, setSearch } from '../../app/router.ts';
import { notify } from '../../app/toasts.tsx';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { act, type Column, COLUMNS, type Task } from './task-actions.ts';
import { TaskView } from './task-view.tsx';

const REFRESH_MS = 2_000;

export default function TeamBoard({ params: { key: team = '' } }: PageProps) {
  const search = currentSearch.value;
  const q = search.get('q') ?? '';
  const parts = { params: { team }, query: { limit: 200, ...(q && { q }) } };
  const about = useRequest('GET /v1/teams/{team}', { params: { team } });
  const { data, problem, reload } = useRequest('GET /v1/teams/{team}/tasks', parts, { everyMs: REFRESH_MS });
  if (about.problem.value) return <ProblemNotice problem={about.problem.value} retry={about.reload} />;
  const { name, members } = about.data.value ?? { name: null, members: [] };
  const { data: tasks, has_more: isCut } = data.value ?? { data: [], has_more: false };
  const chosen = tasks.find(({ number }) => String(number) === search.get('task'));
  return (
    <section class="page">
      <div class="page-head">
        <p class="trail">
          <a href={hrefOf('teams')}>Teams</a> /
        </p>
        <h1>
          <ExactText text={name ?? team} />
        </h1>
        <input
          type="search"
          aria-label="Only with these words"
          placeholder="Filter"
          value={q}
          onChange={({ currentTarget }) => setSearch({ q: currentTarget.value.trim() })}
        />
        <CopyAs name="GET /v1/teams/{team}/tasks" parts={parts} command={['tasks', 'list', team]} />
      </div>
      {problem.value && <ProblemNotice problem={problem.value} retry={reload} />}
      {data.value && tasks.length === 0 && (
        <p class="notice">
          No tasks{q && ` with ${q}`}. <code>npx tempoclaw tasks create {team} "Write the summary"</code>{' '}
          makes one.
        </p>
      )}
      <div class="split has-chosen">
        <Board tasks={tasks} members={members} chosen={chosen} onChange={reload} />
        {chosen && (
          <div class="detail">
            <TaskView key={chosen.id} task={chosen} members={members} onChange={reload} />
          </div>
        )}
      </div>
      {isCut && <p class="notice">Only the newest 200 tasks: filter for others.</p>}
    </section>
  );
}

interface BoardProps {
  readonly tasks: readonly Task[];
  readonly members: readonly string[];
  readonly chosen: Task | undefined;
  readonly onChange: () => void;
}

function Board({ tasks, members, chosen, onChange }: BoardProps) {
  const over = useSignal('');
  /** What a task can be dropped on. */
  const target = (name: string, drop: (task: Task) => Promise<boolean> | undefined) => ({
    'data-over': over.value === name || undefined,
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      over.value = name;
    },
    onDragLeave: () => {
      over.value = '';
    },
    onDrop: async (event: DragEvent) => {
      event.preventDefault();
      over.value = '';
      const task = tasks.find(({ id }) => id === event.dataTransfer?.getData('text/plain'));
      if (task && (await drop(task))) onChange();
    },
  });
  const move = ({ title, statuses, moves }: Column, task: Task): Promise<boolean> | undefined => {
    const action = moves[task.status];
    if (action) return act(task, action);
    if (!statuses.includes(task.status))
      notify('failed', `A task that is ${task.status} cannot be moved to ${title}`);
    return undefined;
  };
  return (
    <div class="board" tabIndex={0} role="group" aria-label="Board">
      <ul aria-label="Members">
        {members.map((member) => (
          <li
            key={member}
            class="badge"
            title="Drop a task here to assign it"
            {...target(`to ${member}`, (task) => act(task, 'assign', { assignee: member }))}
          >
            {member}
          </li>
        ))}
      </ul>
      {COLUMNS.map((column) => {
        const inside = tasks.filter(({ status }) => column.statuses.includes(status));
        return (
          <section
            key={column.title}
            class="column"
            aria-label={column.title}
            {...target(column.title, (task) => move(column, task))}
          >
            <h2>
              {column.title} <small>{inside.length}</small>
            </h2>
            {inside.map((task) => (
              <Card key={task.id} task={task} isChosen={task === chosen} />
            ))}
          </section>
        );
      })}
    </div>
  );
}

function Card({ task, isChosen }: { readonly task: Task; readonly isChosen: boolean }) {
  const {
    team,
    number,
    subject,
    owner,
    assignee,
    status,
    percent,
    waiting_for: waits,
    lease,
    question,
    judging,
  } = task;
  return (
    <a
      class="card"
      href={`${hrefOf('teams', team)}?task=${number}`}
      draggable={may('run')}
      aria-current={isChosen ? 'true' : undefined}
      onDragStart={({ dataTransfer }) => dataTransfer?.setData('text/plain', task.id)}
    >
      <span class="row-name">
        #{number} <ExactText text={subject} />
      </span>
      <span class="row-more">
        {[
          owner ?? assignee ?? 'nobody',
          ...(['failed', 'cancelled', 'stale'].includes(status) ? [status] : []),
          ...(percent > 0 ? [`${percent}%`] : []),
          ...(lease ? [leaseText(lease)] : []),
          ...(waits.length > 0
            ? [`waits for ${waits.map((id) => `#${id.split('.').at(-1)}`).join(' ')}`]
            : []),
          ...(judging ? ['gates judge it'] : []),
          ...(question ? ['asks you'] : []),
        ].join(' · ')}
      </span>
    </a>
  );
}

/** Each reading of the board moves the clock on. */
function leaseText({ until }: NonNullable<Task['lease']>): string {
  if (until === null) return 'its turn runs';
  const seconds = Math.max(0, Math.round((Date.parse(until) - Date.now()) / 1_000));
  return `lease ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
