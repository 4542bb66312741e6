import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A mail as a server got it. */
export type ReceivedMail = {
  from: string
  to: string[]
  messageId: string
  subject: string
  /** Everything, with the encoding of its text undone. */
  text: string
}

export type MailServer = {
  port: number
  url: string
  mails: ReceivedMail[]
  close(): Promise<void>
}

export type MailServerOptions = {
  /** Default: any free one. */
  port?: number
  /** Who has to sign in. Default: nobody. */
  account?: { user: string; password: string }
  /** Answers a receiver's address with a refusal, such as 550, or null to take it. */
  refuse?(address: string): number | null
  /** What the server waits for after it has a mail, before it says so. Default: nothing. */
  beforeAnswer?(): Promise<void>
}

/** Starts a real SMTP server, without TLS, that keeps what it gets. */
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
  const { port: taken } = server.server.address() as AddressInfo // listening on a port, not on a pipe
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
