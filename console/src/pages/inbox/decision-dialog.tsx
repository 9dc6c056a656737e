/** The dialogs of decisions that need words: why not, other arguments, an answer in the tool's place. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRequest } from '../../api/use-request.ts';
import { bound } from '../../components/bound.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { FieldSchema, Values } from '../../components/field-schema.ts';
import { Trouble } from '../../components/notices.tsx';
import { SchemaForm } from '../../components/schema-form.tsx';
import type { Approval } from './approval-list.ts';
import { type Decision, decide } from './decide.ts';

export type DialogKind = 'reject' | 'edit' | 'respond';

interface DialogProps {
  readonly approval: Approval;
  readonly close: () => void;
  readonly onDecided?: (() => void) | undefined;
}

export function DecisionDialog({ kind, ...props }: DialogProps & { readonly kind: DialogKind }) {
  if (kind !== 'edit') return <TextDialog {...props} kind={kind} />;
  const { form } = props.approval;
  return form ? <ArgumentsDialog {...props} schema={schemaOf(form)} /> : <ToolDialog {...props} />;
}

const TEXTS = {
  reject: { title: 'Reject', label: 'Why not? The agent reads it.', button: 'Reject' },
  respond: { title: 'Answer in its place', label: 'What the agent reads as the result', button: 'Send' },
} as const;

function TextDialog({ kind, ...props }: DialogProps & { readonly kind: 'reject' | 'respond' }) {
  const text = useSignal('');
  const { label, ...texts } = TEXTS[kind];
  const decision = (): Decision =>
    kind === 'respond'
      ? { decision: 'respond', text: text.value }
      : { decision: 'reject', ...(text.value.trim() && { reason: text.value }) };
  return (
    <FormDialog {...props} {...texts} decision={decision}>
      <label for="decision-text">{label}</label>
      <textarea
        id="decision-text"
        rows={4}
        maxLength={16_384}
        required={kind === 'respond'}
        {...bound(text)}
      />
    </FormDialog>
  );
}

function ToolDialog(props: DialogProps) {
  const { agent, tool: name } = props.approval;
  const tool = useRequest('GET /v1/tools/{name}', { params: { name }, query: { agent } });
  const schema = tool.data.value?.parameters ?? (tool.problem.value && {});
  if (!schema) return null;
  return (
    <ArgumentsDialog {...props} schema={schema}>
      <Trouble reading={tool} />
    </ArgumentsDialog>
  );
}

interface ArgumentsDialogProps extends DialogProps {
  readonly schema: FieldSchema;
  readonly children?: ComponentChildren;
}

function ArgumentsDialog({ schema, children, ...props }: ArgumentsDialogProps) {
  const { args, tool } = props.approval;
  const values = useSignal<Values>(args);
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

/** Of the fields that an MCP server asks for. */
function schemaOf({ fields }: NonNullable<Approval['form']>): FieldSchema {
  const properties = fields.map(({ name, title, description, type, options }) => [
    name,
    {
      type: type === 'choices' ? 'array' : type,
      description: [title, description].filter(Boolean).join(': '),
      ...(options && type !== 'choices' && { enum: options.map(({ value }) => value) }),
    },
  ]);
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return { properties: Object.fromEntries(properties), required };
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
  const isBusy = useSignal(false);
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
    <Dialog title={title} close={close}>
      <form class="fields" onSubmit={(event) => void submit(event)}>
        {props.children}
        <div class="buttons">
          <Button type="submit" class="primary" disabled={isBusy.value || isBlocked}>
            {button}
          </Button>
          <Button onClick={close}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
