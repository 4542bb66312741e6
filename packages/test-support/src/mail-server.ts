import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A received mail. */
export type ReceivedMail = {
  from: string
  to: string[]
  messageId: string
  subject: string
  /** The complete mail, with its text decoded. */
  text: string
}

export type MailServer = {
  port: number
  url: string
  mails: ReceivedMail[]
  close(): Promise<void>
}

export type MailServerOptions = {
  /** The port. Default: any free port. */
  port?: number
  /** The required credentials. Default: none. */
  account?: { user: string; password: string }
  /** Returns a status such as 550 to refuse a recipient, or null to accept. Default: accepts all. */
  refuse?(address: string): number | null
  /** Delays the server's confirmation of a mail. Default: no delay. */
  beforeAnswer?(): Promise<void>
}

/** Starts an SMTP server without TLS that records mails. */
export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { port = 0, account, refuse, beforeAnswer } = options
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    hideSTARTTLS: true,
    authOptional: account === undefined,
    allowInsecureAuth: true,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      const isRight = username === account?.user && password === account?.password
      done(isRight ? null : new Error('Wrong password'), isRight ? { user: username } : undefined)
    },
    onRcptTo({ address }, _session, done) {
      const status = refuse?.(address) ?? null
      done(status === null ? null : Object.assign(new Error('Refused'), { responseCode: status }))
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', chunk => chunks.push(chunk))
      stream.on('end', () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        const raw = Buffer.concat(chunks).toString()
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), ...read(raw) })
        void Promise.resolve(beforeAnswer?.()).then(() => done())
      })
    },
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const { port: taken } = server.server.address() as AddressInfo // it listens on a port, not on a pipe
  const login = account ? `${account.user}:${account.password}@` : ''
  return {
    port: taken,
    url: `smtp://${login}127.0.0.1:${taken}`,
    mails,
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}

function read(raw: string) {
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(raw)?.[1]?.trim() ?? ''
  const text = raw
    .replace(/=\r\n/g, '')
    .replace(/(?:=[0-9A-F]{2})+/g, bytes => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())
  return { messageId: header('Message-ID'), subject: header('Subject'), text }
}
