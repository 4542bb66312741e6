import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mail } from '@belfry/messages'
import type { Logger } from '@belfry/runtime'
import nodemailer, { type SendMailOptions } from 'nodemailer'
import { UndeliveredMessage } from './outbox-sender.ts'

export type MailTransport = {
  /**
   * Sends a mail. Its Message-ID is made of `id`, so mail clients recognize a mail that had to be sent twice.
   * @throws UndeliveredMessage when the server did not take it.
   */
  send(mail: Mail, id: string): Promise<void>
  close(): void
}

/** Mails in flight at a time. */
export const maxMails = 4

const connectMs = 10_000
const silenceMs = 30_000

/**
 * Opens the transport of mails.
 * @param url - An `smtp://` or `smtps://` server, or a `file://` folder that gets each mail as an `.eml` file.
 * @param from - The sender's address, with or without a name.
 */
export function openMailTransport(url: string, from: string, log: Logger): MailTransport {
  return url.startsWith('file:') ? toFolder(fileURLToPath(url), from, log) : toServer(url, from)
}

function toServer(url: string, from: string): MailTransport {
  const transport = nodemailer.createTransport({
    url,
    pool: true,
    maxConnections: maxMails,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
  })
  return {
    async send(mail, id) {
      try {
        await transport.sendMail(compose(mail, from, id))
      } catch (error) {
        throw undelivered(error)
      }
    },
    close: () => transport.close(),
  }
}

function toFolder(folder: string, from: string, log: Logger): MailTransport {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true })
  return {
    async send(mail, id) {
      const { message } = await transport.sendMail(compose(mail, from, id))
      const path = join(folder, `${id}.eml`)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // A program that watches the folder sees only complete files.
      await writeFile(`${path}.part`, message, { mode: 0o600 })
      await rename(`${path}.part`, path)
      log.info({ notice: `A mail to ${mail.to}, "${mail.subject}": ${path}` }, 'mail.written')
    },
    close() {},
  }
}

function compose({ to, subject, text, html, headers }: Mail, from: string, id: string): SendMailOptions {
  const domain = /@([^>\s]+)/.exec(from)?.[1] ?? 'localhost'
  return {
    from,
    // A text would be parsed, and could name several recipients.
    to: { name: '', address: to },
    subject,
    text,
    html,
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

// 5xx replies are final (RFC 5321, 4.2.1). Those about Belfry's login or sender are not: an operator can correct them.
function undelivered(error: unknown): UndeliveredMessage {
  const { code, responseCode = 0, command = '' } = error as { code?: string; responseCode?: number; command?: string }
  const isFinal = responseCode >= 500 && code !== 'EAUTH' && /^(RCPT TO|DATA)$/.test(command)
  const text = isFinal
    ? `The mail server refused the mail (${responseCode}).`
    : 'The mail server did not take the mail.'
  return new UndeliveredMessage(text, { isFinal, cause: error })
}
