/** A mail server on this machine that supports SMTP (RFC 5321) with STARTTLS, and stores the accepted mails. */
import type { AddressInfo } from 'node:net';
import smtpServer, { type SMTPServerOptions } from 'smtp-server';

const { SMTPServer } = smtpServer;

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers by their names in lower case, unfolded. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly raw: string;
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
}

export interface MailServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** Counts the connections that were made. */
  readonly connections: () => number;
}

/** `refuse` returns the SMTP answer with which it accepts no mail now; it knows the user `claw` with `password`. */
export async function startMailServer(
  t: { after(end: () => void): void },
  {
    refuse = () => undefined,
    password,
    ...options
  }: SMTPServerOptions & { refuse?: () => string | undefined; password?: string } = {},
): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    key: KEY,
    cert: CERTIFICATE,
    authOptional: password === undefined,
    disableReverseLookup: true,
    logger: false,
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onAuth({ username, password: value }, _session, done) {
      if (username === 'claw' && value === password) done(null, { user: username });
      // Some servers repeat what they received.
      else done(new Error(`who is ${username} with ${value}?`));
    },
    onData(stream, { envelope, user, secure }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const answer = refuse();
        if (answer !== undefined)
          return done(
            Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) }),
          );
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ from, to, user, isEncrypted: secure, ...readMail(Buffer.concat(chunks).toString()) });
        done();
      });
    },
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  t.after(() => {
    for (const connection of server.connections) connection.close();
    server.close();
  });
  const { port } = server.server.address() as AddressInfo;
  return { port, mails, connections: () => connections };
}

function readMail(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'raw'> {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const body = raw.slice(end + 4);
  const encoding = headers['content-transfer-encoding'];
  const text =
    encoding === 'base64'
      ? Buffer.from(body, 'base64').toString()
      : encoding === 'quoted-printable'
        ? fromQuotedPrintable(body)
        : body;
  return { headers, text: text.replaceAll('\r\n', '\n'), raw };
}

/** RFC 2045 §6.7. */
function fromQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** A key for 127.0.0.1, self-signed, valid until 2120; only for tests. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyVSBsyD38ojOTikL
pp0RHXRXCktxe2OhkHBlakQ3KnehRANCAAT0w7KSrolOkEEfvEM8usB5yudpfz93
qkV4/xruSdR9JiNjWSYpcIAhvPycBRMYzjiuuxFOc6cC9Uc+lJ2xx5Fb
-----END PRIVATE KEY-----
`;
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBZjCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAltYWlsLnRl
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CW1haWwudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPTDspKuiU6QQR+8
Qzy6wHnK52l/P3eqRXj/Gu5J1H0mI2NZJilwgCG8/JwFExjOOK67EU5zpwL1Rz6U
nbHHkVujTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYcEfwAAAYIJbG9j
YWxob3N0MB0GA1UdDgQWBBRVElFhkHK9YHqrvbhlYOcxUajiKDAKBggqhkjOPQQD
AgNHADBEAiAzBC12u/Q8TSTAZhaU2zqf11zvQKNwSwf9eGWSbfCV5QIgHJ30u15o
JZZ53vhOAoVeu4fMbx1e5uAN1rZfpmlJs+c=
-----END CERTIFICATE-----
`;
