/** What a kind of things that are set up is, for the pages that are the same for all. */
import type { ComponentChildren, ComponentType } from 'preact';
import type { Operations } from '@tempoclaw/client';
import type { Scope } from '../../api/session.ts';
import type { Values } from '../../components/field-schema.ts';

export type Row = Values;

type ListName = {
  [Name in keyof Operations]: Operations[Name] extends {
    readonly answer: { readonly data: readonly unknown[] };
  }
    ? Name
    : never;
}[keyof Operations];
export type RowOf<Name extends ListName> = Operations[Name]['answer']['data'][number];

export interface BesideProps<One = Row> {
  readonly row: One;
  /** What the form holds, saved or not. */
  readonly values: Values;
  /** Where the row is. */
  readonly address: string;
  readonly reload: () => void;
}

interface KindOf<One> {
  readonly title: string;
  /** What reads and what changes need. */
  readonly scopes: readonly [Scope, Scope];
  readonly key: keyof One & string;
  readonly nameOf?: (row: One) => string;
  readonly badge?: (row: One) => string | false;
  /** Parts of its second line. */
  readonly more: (row: One) => readonly ComponentChildren[];
  /** Whether those of one agent can be read, also what it alone has. */
  readonly isByAgent?: boolean;
  /** Words of the command that makes the first one. */
  readonly empty: string;
  /** The button that makes one, and where that is not the path of the list. */
  readonly make?: readonly [label: string, path?: string];
  /** In place of the form that is made from the schema. */
  readonly MakeForm?: ComponentType<{ readonly onDone: (answer: Values) => void }>;
  /** Shows what nobody sees again once one is made. */
  readonly Made?: ComponentType<{ readonly answer: Values }>;
  /** Whether there is a page for one, and whether that has a form. */
  readonly page?: 'edit' | 'show';
  /** The button that removes one, which is also the word of its command, and what that does. */
  readonly remove?: readonly [label: string, question: string];
  /** Whether it is removed and still listed. */
  readonly isOver?: (row: One) => boolean;
  readonly Beside?: ComponentType<BesideProps<One>>;
}

export interface Kind extends KindOf<Row> {
  /** Its name in addresses, and the command that is about it. */
  readonly slug: string;
  readonly path: string;
}

/** It gets only rows of its own list. */
export function defineKind<Name extends ListName>(slug: string, list: Name, kind: KindOf<RowOf<Name>>): Kind {
  return { ...(kind as unknown as KindOf<Row>), slug, path: list.slice('GET '.length) };
}
