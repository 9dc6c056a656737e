/** Inputs that hold a text. */
import { type Signal, useSignal } from '@preact/signals';
import type { Ref } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
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

interface TextInputProps {
  readonly value: string;
  /** Gets the text with each change while it is typed, or once it is. */
  readonly onInput?: (text: string) => void;
  readonly onChange?: (text: string) => void;
  readonly label?: string;
  readonly hint?: string | undefined;
  /** For a word among others, not for a search. */
  readonly isShort?: boolean;
  readonly inputRef?: Ref<HTMLInputElement>;
}

/** Keeps what is being typed while the page is drawn again. */
export function TextInput({ value, label, hint, isShort = false, inputRef, ...on }: TextInputProps) {
  const text = useSignal(value);
  // At once: after the next letter, it would take that back.
  useLayoutEffect(() => {
    text.value = value;
  }, [value, text]);
  const attributes = {
    ref: inputRef,
    'aria-label': label,
    placeholder: hint,
    value: text.value,
    onInput: ({ currentTarget }: Typed): void => {
      text.value = currentTarget.value;
      on.onInput?.(currentTarget.value);
    },
    onChange: ({ currentTarget }: Typed): void => on.onChange?.(currentTarget.value.trim()),
    onKeyDown: ({ key, currentTarget }: KeyboardEvent): void => {
      if (key === 'Escape' && currentTarget instanceof HTMLElement) currentTarget.blur();
    },
  };
  return isShort ? <input {...attributes} size={10} /> : <input {...attributes} type="search" />;
}

/** One for each page: the key `/` leads to it. */
export function SearchBox({ label = 'Only with these words', hint = 'Filter', ...props }: TextInputProps) {
  const input = useRef<HTMLInputElement>(null);
  useShortcut('/', 'Filter', () => input.current?.focus());
  return <TextInput {...props} inputRef={input} label={label} hint={hint} />;
}
