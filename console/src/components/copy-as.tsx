/** The same request for a terminal: as curl, and as a command of TempoClaw. */
import { useId } from 'preact/hooks';
import { addressOf, type OperationName, type RequestParts } from '../api/request.ts';
import { notify } from '../app/toasts.tsx';

interface CopyAsProps<Name extends OperationName> {
  readonly name: Name;
  readonly parts: RequestParts<Name>;
  /** Words after `npx tempoclaw`. */
  readonly command: readonly string[];
}

export function CopyAs<Name extends OperationName>({ name, parts, command }: CopyAsProps<Name>) {
  const { body } = parts as { readonly body?: unknown };
  return <CopyAsAt {...addressOf(name, parts)} body={body} command={command} />;
}

interface CopyAsAtProps {
  readonly method: string;
  readonly address: string;
  readonly body?: unknown;
  readonly command: readonly string[];
}

/** Of a request whose address is known only when the page runs. */
export function CopyAsAt({ command, ...request }: CopyAsAtProps) {
  const id = useId();
  const lines = { curl: curlOf(request), command: ['npx', 'tempoclaw', ...command].map(quote).join(' ') };
  return (
    <>
      <button type="button" class="quiet" popovertarget={id}>
        Copy as…
      </button>
      <div id={id} popover="auto" class="popover">
        {Object.entries(lines).map(([kind, line]) => (
          <p key={kind}>
            <code class="block">{line}</code>
            <button type="button" onClick={() => void copy(line)}>
              Copy as {kind}
            </button>
          </p>
        ))}
        <p>
          <small>The variables come from: eval "$(npx tempoclaw env)"</small>
        </p>
      </div>
    </>
  );
}

function curlOf({ method, address, body }: Omit<CopyAsAtProps, 'command'>): string {
  return [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} "$TEMPOCLAW_URL"${quote(`/${address}`)}`,
    '-H "Authorization: Bearer $TEMPOCLAW_API_KEY"',
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`]),
  ].join(' ');
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify('done', 'Copied');
  } catch {
    // Without TLS, a browser lets no page write to the clipboard.
    notify('failed', 'This browser does not let the page copy: mark the text and copy it');
  }
}
