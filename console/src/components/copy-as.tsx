/** The same request for a terminal: as curl, and as a command of TempoClaw. */
import { addressOf, type OperationName, type RequestParts } from '../api/request.ts';
import { notify } from '../app/toasts.tsx';
import { Button, Popover } from './button.tsx';
import { Icon } from './icon.tsx';

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
  const label = (
    <>
      <Icon name="copy" /> Copy as…
    </>
  );
  const lines = { curl: curlOf(request), command: ['npx', 'tempoclaw', ...command].map(quote).join(' ') };
  return (
    <Popover label={label} class="quiet copy-as">
      {() => (
        <>
          {Object.entries(lines).map(([kind, line]) => (
            <p key={kind}>
              <code class="block">{line}</code>
              <Button onClick={() => void copy(line)}>Copy as {kind}</Button>
            </p>
          ))}
          <p>
            <small>The variables come from: eval "$(npx tempoclaw env)"</small>
          </p>
        </>
      )}
    </Popover>
  );
}

function curlOf({ method, address, body }: Omit<CopyAsAtProps, 'command'>): string {
  const json = ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body ?? null))}`];
  return [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} "$TEMPOCLAW_URL"${quote(`/${address}`)}`,
    '-H "Authorization: Bearer $TEMPOCLAW_API_KEY"',
    ...(body === undefined ? [] : json),
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
