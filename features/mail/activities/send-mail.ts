/** Sends mails by the operator's SMTP server (RFC 5321), to which egress connects. */
import { callbackify } from 'node:util';
import { createTransport } from 'nodemailer';
import type { MailText } from '../rules.ts';
import type { EgressSettings } from '#domain/policy/effective-egress.ts';
import type { Egress } from '#activities/egress/create-egress.ts';
import { operatorRules } from '#activities/egress/operator-rules.ts';

export interface Mail extends MailText {
  readonly to: string;
  /** The Message-ID without its domain, and that of the first mail of its thread. */
  readonly id: string;
  readonly replyTo?: string | undefined;
}

export interface MailDeps {
  readonly egress: Pick<Egress, 'open'>;
  readonly egressSettings: EgressSettings;
  readonly mail: { readonly url?: string; readonly from?: string };
}

/** `answered` is SMTP's code; `problem` is null when the server has accepted the mail. */
export interface MailOutcome {
  readonly answered: number | null;
  readonly problem: string | null;
}

export type SendMail = (tenant: string, mail: Mail, signal: AbortSignal) => Promise<MailOutcome>;

const LIMITS = { totalMs: 15_000 };

/**
 * Rejects only when `signal` stops it. A mail that was sent and not confirmed is sent again with the same Message-ID.
 */
export function createSendMail({ egress, egressSettings, mail: settings }: MailDeps): SendMail {
  if (settings.url === undefined)
    return async () => ({ answered: null, problem: 'no mail server is set: mail.url, or SMTP_URL' });
  const { place, from, domain, ...server } = readServer(settings.url, settings.from);
  const rules = operatorRules({ url: place, isOwn: true }, egressSettings);
  return async (tenant, { to, id, replyTo, ...text }, signal) => {
    const client = egress.open({ labels: { tenant, purpose: 'mail' }, rules, limits: LIMITS });
    const transport = createTransport({
      ...server,
      getSocket: (_options, done) =>
        callbackify(async () => ({ connection: await client.dial(place, signal) }))(done),
    });
    const first = replyTo && `<${replyTo}@${domain}>`;
    try {
      const { response } = await transport.sendMail({
        ...text,
        from,
        // The address is an object, so that the text is not parsed as a list.
        to: { name: '', address: to },
        messageId: `<${id}@${domain}>`,
        ...(first && { inReplyTo: first, references: first }),
        // RFC 3834: this prevents out-of-office answers.
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      return { answered: Number.parseInt(response, 10) || null, problem: null };
    } catch (error) {
      signal.throwIfAborted();
      const { message, responseCode } = error as Error & { readonly responseCode?: number };
      return { answered: responseCode ?? null, problem: message };
    } finally {
      transport.close();
      await client.close();
    }
  };
}

/** Reads `smtps://user:password@host:465`, or `smtp://…:587` with STARTTLS unless it ends in `?tls=none`. */
function readServer(url: string, value: string | undefined) {
  const { protocol, hostname, port, username, password, search } = new URL(url);
  const secure = protocol === 'smtps:';
  const user = decodeURIComponent(username);
  const address = value ?? (user.includes('@') ? user : `tempoclaw@${hostname}`);
  const isOpen = search === '?tls=none';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (secure ? 465 : 587)),
    place: `http://${hostname}:${port || (secure ? 465 : 587)}/`,
    secure,
    requireTLS: !secure && !isOpen,
    ignoreTLS: isOpen,
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(password) } }),
    from: { name: 'TempoClaw', address },
    domain: address.slice(address.lastIndexOf('@') + 1),
  };
}
