/** One thing that was said or done in a session. */
import { hrefOf } from '../../app/router.ts';
import { durationText } from '../../components/amounts.ts';
import { Markdown } from '../../components/markdown.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { ApprovalRow } from './approval-row.tsx';
import type { FeedItem } from './feed-items.ts';

export function FeedRow({ item }: { readonly item: FeedItem }) {
  switch (item.kind) {
    case 'message':
      return (
        <article class="feed-message">
          <header>
            You <TimeAgo at={item.at} /> {item.turn && <a href={hrefOf('runs', item.turn)}>Run</a>}
          </header>
          <p class="plain-text">{item.text}</p>
        </article>
      );
    case 'answer':
      return (
        <article class="feed-answer" aria-busy={!item.isDone}>
          <header>
            Agent <TimeAgo at={item.at} />
          </header>
          <Markdown text={item.text} />
        </article>
      );
    case 'call':
      return <CallRow item={item} />;
    case 'approval':
      return <ApprovalRow item={item} />;
    case 'child':
      return <ChildRow item={item} />;
    case 'note':
      return <p class={`feed-note ${item.tone}`}>{item.text}</p>;
  }
}

function ChildRow({ item }: { readonly item: FeedItem & { readonly kind: 'child' } }) {
  const { state, what, label, session, preview } = item;
  return (
    <p class="feed-call">
      <span class={`sign ${state}`} role="img" aria-label={state}>
        {SIGNS[state]}
      </span>{' '}
      {what} <a href={hrefOf('sessions', session)}>{label || session}</a>
      {preview && <small> {preview}</small>}
    </p>
  );
}

const SIGNS = { running: '●', done: '✔', failed: '✘' } as const;

function CallRow({ item }: { readonly item: FeedItem & { readonly kind: 'call' } }) {
  const { state, summary, code, ms, output, preview } = item;
  const more = [output, preview].filter(Boolean).join('\n').trim();
  const head = (
    <>
      <span class={`sign ${state}`} role="img" aria-label={state}>
        {SIGNS[state]}
      </span>{' '}
      <code>{summary}</code>
      {ms !== undefined && <small> {durationText(ms)}</small>}
      {code && <small class="bad"> {code}</small>}
    </>
  );
  if (more === '') return <p class="feed-call">{head}</p>;
  return (
    <details class="feed-call">
      <summary>{head}</summary>
      <pre>{more}</pre>
    </details>
  );
}
