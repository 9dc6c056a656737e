/** The dialogs of decisions that need words: why not, other arguments, an answer in the tool's place. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useRequest } from '../../api/use-request.ts';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import type { FieldSchema } from '../../components/field-schema.ts';
import { SchemaForm } from '../../components/schema-form.tsx';
import type { Approval } from './approval-list.ts';
import { decide, type Decision } from './decide.ts';

export type DialogKind = 'reject' | 'edit' | 'respond';

interface DialogProps {
  readonly approval: Approval;
  readonly close: () => void;
  readonly onDecided?: (() => void) | undefined;
}

export function DecisionDialog({ kind, ...props }: DialogProps & { readonly kind: DialogKind }) {
  if (kind === 'edit') return <EditDialog {...props} />;
  return <TextDialog {...props} kind={kind} />;
}

const TEXTS = {
  reject: { title: 'Reject', label: 'Why not? The agent reads it.', button: 'Reject' },
  respond: { title: 'Answer in its place', label: 'What the agent reads as the result', button: 'Send' },
} as const;

function TextDialog({ kind, ...props }: DialogProps & { readonly kind: 'reject' | 'respond' }) {
  const text = useSignal('');
  const { title, label, button } = TEXTS[kind];
  const decision = (): Decision =>
    kind === 'respond'
      ? { decision: 'respond', text: text.value }
      : { decision: 'reject', ...(text.value.trim() && { reason: text.value }) };
  return (
    <FormDialog {...props} title={title} button={button} decision={decision}>
      <label for="decision-text">{label}</label>
      <textarea
        id="decision-text"
        rows={4}
        maxLength={16_384}
        required={kind === 'respond'}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
    </FormDialog>
  );
}

/** The fields are those that an MCP server asks for, or those of the tool. */
function EditDialog(props: DialogProps) {
  const { form } = props.approval;
  return form ? <ArgumentsDialog {...props} schema={schemaOf(form)} /> : <ToolDialog {...props} />;
}

function ToolDialog(props: DialogProps) {
  const { agent, tool: name } = props.approval;
  const tool = useRequest('GET /v1/tools/{name}', { params: { name }, query: { agent } });
  const problem = tool.problem.value;
  const schema = tool.data.value?.parameters ?? (problem && {});
  if (!schema) return null;
  return (
    <ArgumentsDialog {...props} schema={schema}>
      {problem && <ProblemNotice problem={problem} />}
    </ArgumentsDialog>
  );
}

interface ArgumentsDialogProps extends DialogProps {
  readonly schema: FieldSchema;
  readonly children?: ComponentChildren;
}

function ArgumentsDialog({ schema, children, ...props }: ArgumentsDialogProps) {
  const { args, tool } = props.approval;
  const values = useSignal<Readonly<Record<string, unknown>>>(args);
  const broken = useSignal<ReadonlySet<string>>(new Set());
  return (
    <FormDialog
      title={`Run ${tool} with other arguments`}
      button="Approve these"
      {...props}
      decision={() => ({ decision: 'edit', args: values.value })}
      isBlocked={broken.value.size > 0}
    >
      {children}
      <SchemaForm schema={schema} values={values} broken={broken} />
    </FormDialog>
  );
}

function schemaOf({ fields }: NonNullable<Approval['form']>): FieldSchema {
  const properties = fields.map(({ name, title, description, type, options }) => [
    name,
    {
      type: type === 'choices' ? 'array' : type,
      description: [title, description].filter(Boolean).join(': '),
      ...(options && type !== 'choices' && { enum: options.map(({ value }) => value) }),
    },
  ]);
  return {
    properties: Object.fromEntries(properties),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

interface FormDialogProps extends DialogProps {
  readonly title: string;
  readonly button: string;
  readonly decision: () => Decision;
  readonly isBlocked?: boolean;
  readonly children: ComponentChildren;
}

function FormDialog(props: FormDialogProps) {
  const { title, button, approval, close, onDecided, decision, isBlocked = false } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const isBusy = useSignal(false);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    isBusy.value = true;
    const isTaken = await decide(approval, decision());
    isBusy.value = false;
    if (!isTaken) return;
    close();
    onDecided?.();
  };
  return (
    <dialog ref={dialog} class="wide" aria-labelledby="decision-title" onClose={close}>
      <form class="fields" onSubmit={(event) => void submit(event)}>
        <h2 id="decision-title">{title}</h2>
        {props.children}
        <div class="buttons">
          <button type="submit" class="primary" disabled={isBusy.value || isBlocked}>
            {button}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
}
