/** One thing that was said or done in a session. */
import { hrefOf } from '../../app/router.ts';
import { durationText } from '../../components/amounts.ts';
import { Sign } from '../../components/fact.tsx';
import { Markdown } from '../../components/markdown.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { ApprovalRow } from './approval-row.tsx';
import type { FeedItem, ItemOf } from './feed-items.ts';

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

function ChildRow({ item: { state, what, label, session, preview } }: ItemOf<'child'>) {
  return (
    <p class="feed-call">
      <Sign state={state} /> {what} <a href={hrefOf('sessions', session)}>{label || session}</a>
      {preview && <small> {preview}</small>}
    </p>
  );
}

function CallRow({ item: { state, summary, code, ms, output, preview } }: ItemOf<'call'>) {
  const more = [output, preview].filter(Boolean).join('\n').trim();
  const head = (
    <>
      <Sign state={state} /> <code>{summary}</code>
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
