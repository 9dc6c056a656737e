/** Icons as outlines in a square of 24. They only accompany words or a label. */

const PATHS = {
  inbox: 'M4 13 6.5 5h11L20 13v6H4zM4 13h5a3 3 0 0 0 6 0h5',
  sessions: 'M4 5h16v11H10l-4 4v-4H4zM8 9h8M8 12h5',
  costs: 'M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6',
  teams: 'M4 5h4v14H4zM10 5h4v9h-4zM16 5h4v11h-4z',
  setup: 'M4 7h9M17 7h3M13 7a2 2 0 1 0 4 0 2 2 0 1 0-4 0M4 17h3M11 17h9M7 17a2 2 0 1 0 4 0 2 2 0 1 0-4 0',
  health: 'M3 12h4l3-7 4 14 3-7h4',
  keyboard: 'M3 7h18v10H3zM7 10.5h.01M10.5 10.5h.01M14 10.5h.01M17 10.5h.01M8 14h8',
  theme: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20a7.5 7.5 0 0 1 15 0',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The sign of TempoClaw. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 8 8" aria-hidden="true">
      <path d="M1 1h6v2H5v4H3V3H1z" />
    </svg>
  );
}
