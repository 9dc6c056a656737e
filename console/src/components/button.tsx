/** Buttons. What the key may not do is greyed, and says which scope it lacks. */
import type { ComponentChildren, ComponentProps } from 'preact';
import { useId } from 'preact/hooks';
import { lacks, type Scope } from '../api/session.ts';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'title' | 'disabled'> {
  /** What it needs. */
  readonly scope?: Scope | undefined;
  readonly title?: string | undefined;
  readonly disabled?: boolean | undefined;
}

export function Button({ scope, title, disabled = false, ...props }: ButtonProps) {
  const refusal = scope && lacks(scope);
  return (
    <button type="button" {...props} title={refusal ?? title} disabled={disabled || refusal !== undefined} />
  );
}

interface PopoverProps extends Omit<ButtonProps, 'children'> {
  readonly label: ComponentChildren;
  /** Gets the attributes of a button that closes it. */
  readonly children: (closing: {
    readonly popovertarget: string;
    readonly popovertargetaction: 'hide';
  }) => ComponentChildren;
}

/** A button, and what it opens over the page. */
export function Popover({ label, children, ...props }: PopoverProps) {
  const id = useId();
  return (
    <>
      <Button {...props} popovertarget={id}>
        {label}
      </Button>
      <div id={id} popover="auto" class="popover">
        {children({ popovertarget: id, popovertargetaction: 'hide' })}
      </div>
    </>
  );
}
