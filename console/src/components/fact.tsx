/** Lists of facts, and the signs and badges of states. */
import type { ComponentChildren } from 'preact';
import { Pre } from './exact-text.tsx';

/** One line of a list. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface JsonFieldsProps {
  readonly values: Readonly<Record<string, unknown>>;
  readonly label?: string;
}

/** Values as they are. */
export function JsonFields({ values, label }: JsonFieldsProps) {
  return (
    <dl class="arguments" aria-label={label}>
      {Object.entries(values).map(([name, value]) => (
        <Fact key={name} name={name}>
          <Pre value={value} />
        </Fact>
      ))}
    </dl>
  );
}

const SIGNS = { running: '●', waiting: '◷', done: '✔', failed: '✘' } as const;

export function Sign({ state }: { readonly state: keyof typeof SIGNS }) {
  return (
    <span class={state} role="img" aria-label={state}>
      {SIGNS[state]}
    </span>
  );
}

export function Badge({ status }: { readonly status: string }) {
  return <span class={`badge ${status}`}>{status.replace('_', ' ')}</span>;
}

/** What a row of a list shows: what it is called, its state, and below these the rest. */
export function RowText(props: {
  readonly name: ComponentChildren;
  readonly status?: string | false | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <>
      <span class="row-name">{props.name}</span>
      {props.status ? <Badge status={props.status} /> : <span />}
      <span class="row-more">{props.children}</span>
    </>
  );
}
