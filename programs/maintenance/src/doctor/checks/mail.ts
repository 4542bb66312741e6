import { access, constants } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../config.ts'
import { codeOf, type Observation, ok, problem, reasonOf, warning } from '../finding.ts'

const answerMs = 5_000

/** Checks that mails can leave. A mail server is asked to accept the sign-in; it gets no mail. */
export async function checkMail({ SMTP_URL: url }: Environment): Promise<Observation[]> {
  if (!url) {
    const advice = 'Set SMTP_URL and MAIL_FROM of the api and the dispatcher: docs/mail-and-alerts.md.'
    return [warning('SMTP_URL is not set: invitations, password resets and alerts by mail are given up.', advice)]
  }
  if (url.startsWith('file:')) return checkFolder(fileURLToPath(url))
  const limits = { connectionTimeout: answerMs, greetingTimeout: answerMs, socketTimeout: answerMs }
  const { default: nodemailer } = await import('nodemailer')
  const transport = nodemailer.createTransport({ url, ...limits })
  const { host } = new URL(url)
  try {
    await transport.verify()
    return [ok(`the mail server ${host} accepts the sign-in`)]
  } catch (error) {
    const message = `The mail server ${host} does not accept mails: ${reasonOf(error)}`
    const isSignIn = codeOf(error) === 'EAUTH'
    return [problem(message, isSignIn ? 'Correct the user and the password in SMTP_URL.' : 'Correct SMTP_URL.')]
  } finally {
    transport.close()
  }
}

async function checkFolder(folder: string): Promise<Observation[]> {
  try {
    await access(folder, constants.W_OK)
  } catch (error) {
    // The dispatcher creates it with its first mail.
    if (codeOf(error) !== 'ENOENT') {
      return [problem(`The folder of mails ${folder} cannot be written: ${reasonOf(error)}`, 'Change its owner.')]
    }
  }
  return [ok(`mails are written to ${folder}`)]
}
