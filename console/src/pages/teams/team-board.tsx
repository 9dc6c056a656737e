/** The board of a team: its tasks by status. They are moved by drag, or with the buttons of the task that is chosen. */
import { useSignal } from '@preact/signals';
import { may } from '../../api/session.ts';
import { afterTeam, useRequest } from '../../api/use-request.ts';
import { currentSearch, hrefOf, type PageProps, setSearch } from '../../app/router.ts';
import { notify } from '../../app/toasts.tsx';
import { SearchBox } from '../../components/bound.tsx';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { Trouble } from '../../components/notices.tsx';
import { PageFrame } from '../../components/page-frame.tsx';
import { useNow } from '../../components/time-ago.tsx';
import { act, COLUMNS, type Task } from './task-actions.ts';
import { TaskView } from './task-view.tsx';

export default function TeamBoard({ params: { key: team = '' } }: PageProps) {
  const search = currentSearch.value;
  const q = search.get('q') ?? '';
  const parts = { params: { team }, query: { limit: 200, ...(q && { q }) } };
  const about = useRequest('GET /v1/teams/{team}', { params: { team } });
  const board = useRequest('GET /v1/teams/{team}/tasks', parts, afterTeam(team));
  if (about.problem.value) return <Trouble reading={about} />;
  const { name, members } = about.data.value ?? { name: null, members: [] };
  const { data: tasks, has_more: isCut } = board.data.value ?? { data: [], has_more: false };
  const chosen = tasks.find(({ number }) => String(number) === search.get('task'));
  const head = (
    <>
      <SearchBox value={q} onChange={(text) => setSearch({ q: text })} />
      <CopyAs name="GET /v1/teams/{team}/tasks" parts={parts} command={['tasks', 'list', team]} />
    </>
  );
  return (
    <PageFrame title={name ?? team} trail={[['Teams', 'teams']]} head={head} readings={[board]}>
      {board.data.value && tasks.length === 0 && (
        <p class="notice">
          No tasks{q && ` with ${q}`}. <code>npx tempoclaw tasks create {team} "Write the summary"</code>{' '}
          makes one.
        </p>
      )}
      <div class="split has-chosen">
        <Board tasks={tasks} members={members} chosen={chosen} onChange={board.reload} />
        {chosen && (
          <div class="detail">
            <TaskView key={chosen.id} task={chosen} members={members} onChange={board.reload} />
          </div>
        )}
      </div>
      {isCut && <p class="notice">Only the newest 200 tasks: filter for others.</p>}
    </PageFrame>
  );
}

interface BoardProps {
  readonly tasks: readonly Task[];
  readonly members: readonly string[];
  readonly chosen: Task | undefined;
  readonly onChange: () => void;
}

function Board({ tasks, members, chosen, onChange }: BoardProps) {
  const over = useSignal<HTMLElement | undefined>(undefined);
  const drop = async (event: DragEvent): Promise<void> => {
    event.preventDefault();
    over.value = undefined;
    const { column: title = '', member: assignee } = placeOf(event)?.dataset ?? {};
    const column = COLUMNS.find((one) => one.title === title);
    const task = tasks.find(({ id }) => id === event.dataTransfer?.getData('text/plain'));
    const action = task && (assignee ? 'assign' : column?.moves[task.status]);
    if (task && action) {
      await act(task, action, assignee ? { assignee } : {});
      onChange();
    } else if (task && column && !column.statuses.includes(task.status))
      notify('failed', `A task that is ${task.status} cannot be moved to ${title}`);
  };
  return (
    <div
      class="board"
      tabIndex={0}
      role="group"
      aria-label="Board"
      onDragOver={(event) => {
        event.preventDefault();
        over.value = placeOf(event);
      }}
      onDragLeave={() => (over.value = undefined)}
      onDrop={(event) => void drop(event)}
    >
      <ul aria-label="Members">
        {members.map((member) => (
          <li
            key={member}
            class="badge"
            title="Drop a task here to assign it"
            data-member={member}
            data-over={over.value?.dataset['member'] === member}
          >
            {member}
          </li>
        ))}
      </ul>
      {COLUMNS.map(({ title, statuses }) => {
        const inside = tasks.filter(({ status }) => statuses.includes(status));
        return (
          <section
            key={title}
            class="column"
            aria-label={title}
            data-column={title}
            data-over={over.value?.dataset['column'] === title}
          >
            <h2>
              {title} <small>{inside.length}</small>
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

/** Where a task that is dropped goes to. */
function placeOf({ target }: DragEvent): HTMLElement | undefined {
  const place =
    target instanceof Element ? target.closest<HTMLElement>('[data-column], [data-member]') : null;
  return place ?? undefined;
}

function Card({ task, isChosen }: { readonly task: Task; readonly isChosen: boolean }) {
  const now = useNow(task.lease?.until ? 1_000 : undefined);
  const waits = task.waiting_for.map((id) => `#${id.split('.').at(-1)}`);
  const facts = [
    task.owner ?? task.assignee ?? 'nobody',
    ['failed', 'cancelled', 'stale'].includes(task.status) && task.status,
    task.percent > 0 && `${task.percent}%`,
    task.lease && leaseText(task.lease.until, now),
    waits.length > 0 && `waits for ${waits.join(' ')}`,
    task.judging && 'gates judge it',
    task.question && 'asks you',
  ];
  return (
    <a
      class="card"
      href={`${hrefOf('teams', task.team)}?task=${task.number}`}
      draggable={may('run')}
      aria-current={isChosen ? 'true' : undefined}
      onDragStart={({ dataTransfer }) => dataTransfer?.setData('text/plain', task.id)}
    >
      <span class="row-name">
        #{task.number} <ExactText text={task.subject} />
      </span>
      <span class="row-more">{facts.filter(Boolean).join(' · ')}</span>
    </a>
  );
}

function leaseText(until: string | null, now: number): string {
  if (until === null) return 'its turn runs';
  const seconds = Math.max(0, Math.round((Date.parse(until) - now) / 1_000));
  return `lease ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
