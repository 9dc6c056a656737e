/** Inputs that hold a text. */
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useShortcut } from '../app/shortcuts.ts';

interface Typed {
  readonly currentTarget: { readonly value: string };
}

/** Attributes that tie an input to a signal. */
export function bound<Text extends string>(text: Signal<Text>) {
  return {
    value: text.value,
    onInput: ({ currentTarget }: Typed): void => {
      text.value = currentTarget.value as Text;
    },
  };
}

interface SearchBoxProps {
  readonly label?: string;
  readonly hint?: string;
  readonly value: string;
  /** Gets the text with each change while it is typed, or once it is. */
  readonly onInput?: (text: string) => void;
  readonly onChange?: (text: string) => void;
}

/** One for each page: the key `/` leads to it. */
export function SearchBox({
  label = 'Only with these words',
  hint = 'Filter',
  value,
  ...on
}: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  useShortcut('/', 'Filter', () => input.current?.focus());
  return (
    <input
      ref={input}
      type="search"
      aria-label={label}
      placeholder={hint}
      value={value}
      onInput={({ currentTarget }) => on.onInput?.(currentTarget.value)}
      onChange={({ currentTarget }) => on.onChange?.(currentTarget.value.trim())}
      onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
    />
  );
}
