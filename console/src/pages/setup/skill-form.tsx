/** The instructions of a skill, and who finds it. Saving publishes a new version; its other files stay as they are. */
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Operations } from '@tempoclaw/client';
import type { Problem } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { lacks } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { notify } from '../../app/toasts.tsx';
import { bound } from '../../components/bound.tsx';
import { Button } from '../../components/button.tsx';
import type { Values } from '../../components/field-schema.ts';
import { NotYet, ProblemNotice } from '../../components/notices.tsx';
import type { BesideProps, RowOf } from './kind.ts';

type Folder = Operations['GET /v1/skills/{name}/files']['answer'];

const FILE = 'SKILL.md';
const TEMPLATE = `---
name: my-skill
description: What it is for, and when to use it.
---

1. What to do first.
`;
const NEW: Folder = { version: 0, visibility: 'private', files: [{ path: FILE, content: encode(TEMPLATE) }] };

interface DoneProps {
  readonly onDone: (answer: Values) => void;
}

export function SkillForm({ onDone }: DoneProps) {
  return <FolderForm folder={NEW} onDone={onDone} />;
}

export function SkillFolder({ row: { name }, reload }: BesideProps<RowOf<'GET /v1/skills'>>) {
  const reading = useRequest('GET /v1/skills/{name}/files', { params: { name } });
  const folder = reading.data.value;
  if (!folder) return <NotYet reading={reading} />;
  const saved = ({ version }: Values): void => {
    notify('done', `Saved: version ${String(version)}`);
    reading.reload();
    reload();
  };
  return <FolderForm key={folder.version} folder={folder} name={name} onDone={saved} />;
}

interface FolderFormProps extends DoneProps {
  readonly folder: Folder;
  /** Of one that there is; the name of a new one is in its text. */
  readonly name?: string;
}

function FolderForm({ folder, name, onDone }: FolderFormProps) {
  const id = useId();
  const start = decode(folder.files.find(({ path }) => path === FILE)?.content ?? '');
  const text = useSignal(start);
  const visibility = useSignal(folder.visibility);
  const problem = useSignal<Problem | undefined>(undefined);
  const isBusy = useSignal(false);
  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const called = name ?? /^name:\s*(\S+)/m.exec(text.value)?.[1] ?? 'unnamed';
    const others = folder.files.filter(({ path }) => path !== FILE);
    const files = [{ path: FILE, content: encode(text.value) }, ...others];
    isBusy.value = true;
    const body = { visibility: visibility.value, files };
    const result = await request('PUT /v1/skills/{name}', { params: { name: called }, body });
    isBusy.value = false;
    problem.value = result.ok ? undefined : result.problem;
    if (result.ok) onDone(result.data);
  };
  const isUnchanged = name !== undefined && text.value === start && visibility.value === folder.visibility;
  return (
    <form class="fields" onSubmit={(event) => void save(event)}>
      <fieldset class="fields plain" disabled={lacks('admin') !== undefined}>
        <div class="field">
          <label for={id}>{FILE}</label>
          <textarea id={id} rows={18} spellcheck={false} {...bound(text)} />
          <small>{folder.files.map(({ path }) => path).join(', ')}</small>
        </div>
        <label class="check">
          Found by
          <select {...bound(visibility)}>
            <option value="private">agents and users with a grant</option>
            <option value="public">all agents</option>
          </select>
        </label>
      </fieldset>
      {problem.value && <ProblemNotice problem={problem.value} />}
      <div class="buttons">
        <Button type="submit" class="primary" scope="admin" disabled={isBusy.value || isUnchanged}>
          {name === undefined ? 'Publish' : 'Save'}
        </Button>
      </div>
    </form>
  );
}

function encode(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

function decode(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}
