/** What is the same on all pages: the head with the way to it, and what could not be read. */
import { type ComponentChildren, Fragment } from 'preact';
import type { Reading } from '../api/use-request.ts';
import { hrefOf } from '../app/router.ts';
import { ExactText } from './exact-text.tsx';
import { Trouble } from './notices.tsx';

interface PageHeadProps {
  readonly title: string;
  /** The pages above it: the name of each, and the parts of its path. */
  readonly trail?: readonly (readonly [name: string, ...path: string[]])[];
  /** Address in the Temporal web UI. */
  readonly temporal?: string | null | undefined;
  readonly children?: ComponentChildren;
}

export function PageHead({ title, trail = [], temporal, children }: PageHeadProps) {
  return (
    <div class="page-head">
      {trail.length > 0 && (
        <p class="trail">
          {trail.map(([name, ...path]) => (
            <Fragment key={name}>
              <a href={hrefOf(...path)}>{name}</a> /{' '}
            </Fragment>
          ))}
        </p>
      )}
      <h1>
        <ExactText text={title} />
      </h1>
      {children}
      <NewTab href={temporal}>Temporal</NewTab>
    </div>
  );
}

interface PageFrameProps extends PageHeadProps {
  readonly head?: ComponentChildren;
  readonly readings?: readonly Reading<unknown>[];
  /** Whether it scrolls as a whole. */
  readonly scrolls?: boolean;
}

export function PageFrame({ head, readings = [], scrolls = false, children, ...props }: PageFrameProps) {
  return (
    <section class={scrolls ? 'page scrolls' : 'page'}>
      <PageHead {...props}>{head}</PageHead>
      {readings.map((reading, at) => (
        <Trouble key={at} reading={reading} />
      ))}
      {children}
    </section>
  );
}

interface NewTabProps {
  readonly href: string | null | undefined;
  readonly children: ComponentChildren;
}

/** A link that opens beside the console. */
export function NewTab({ href, children }: NewTabProps) {
  if (!href) return null;
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
