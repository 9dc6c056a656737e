/** Dark or light: as the system says, until the person chooses. */
import { signal } from '@preact/signals';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'tempoclaw-theme';

export const theme = signal<Theme>(stored());

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value;
}

export function switchTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
  applyTheme();
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // A browser that stores nothing keeps it for this page.
  }
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return THEMES.find((one) => one === value) ?? 'system';
  } catch {
    return 'system';
  }
}
