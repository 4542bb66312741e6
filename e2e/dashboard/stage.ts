import { type MailServer, type Receiver, startMailServer, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { createWorkspace } from '../api-calls.ts'
import { type Belfry, startBelfry } from '../belfry.ts'
import type { ProgramName } from '../processes.ts'
import { workerBrowser } from './browser.ts'

export const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const

/** The address that operates the installation. A test must register it. */
export const operatorEmail = 'root@operators.example'

type Installation = {
  belfry: Belfry
  /** Receives every email of the installation. */
  mailServer: MailServer
}

export type Stage = Installation & {
  receiver: Receiver
  /** Opens a page in a new browser context. The test fails on console errors and on requests to other hosts. */
  newPage(options?: NewPageOptions): Promise<Page>
  /** Opens a page signed in as the owner of the first workspace. */
  ownerPage(options?: NewPageOptions): Promise<Page>
  /** Makes a new, empty workspace of the organization the first one from now on. */
  enterNewWorkspace(): Promise<void>
  /** Returns the path of the overview of the first workspace, such as `/acme/w/ws_…`. */
  home(): Promise<string>
  /** Waits for an email to an address, and returns the path of the link in it. */
  mailedLink(address: string, subject?: RegExp): Promise<string>
}

export type NewPageOptions = {
  size?: keyof typeof sizes
  theme?: 'light' | 'dark'
  /** A session to start with. */
  token?: string | undefined
  /** Console messages that the test provokes, such as that of a 401 response. */
  expected?: RegExp
}

type Environment = Record<string, string>

/** The settings of an installation for one file. */
export type OwnInstallation = {
  env?: Environment | (() => Promise<Environment>)
  /** Default: one process. */
  services?: ProgramName[]
}

/** Makes a page read its data again, as after a change in another tab. */
export async function reloadAsAnotherTab(page: Page): Promise<void> {
  await page.evaluate(() => new BroadcastChannel('belfry').postMessage('changed'))
}

let ofWorker: Promise<Installation> | undefined

/**
 * Prepares a new organization, a receiver and the browser for the tests of one file. Call it in a `describe`. All files of a
 * worker share an installation, so a file sees the users, mails and organizations of others.
 * @param own - The settings of an installation for this file alone, e.g. one whose processes it kills.
 */
export function useStage(own?: OwnInstallation): Stage {
  const contexts: BrowserContext[] = []
  let problems: string[] = []
  const stage = {} as Stage // filled before the first test

  beforeAll(async () => {
    const [installation, receiver] = await Promise.all([
      own ? install(own) : shareInstallation(),
      startReceiver(),
      workerBrowser(),
    ])
    Object.assign(stage, installation, { receiver })
  }, 120_000)

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(context => context.close()))
    const found = problems
    problems = []
    expect(found, 'console messages and outside requests').toEqual([])
  })

  afterAll(async () => {
    if (own) await Promise.all([stage.belfry?.close(), stage.mailServer?.close()])
    await stage.receiver?.close()
  })

  stage.newPage = async ({ size = 'wide', theme = 'light', token, expected } = {}) => {
    const { url } = stage.belfry
    const browser = await workerBrowser()
    const context = await browser.newContext({
      baseURL: url,
      viewport: sizes[size],
      colorScheme: theme,
      reducedMotion: 'reduce',
      locale: 'en-GB',
    })
    contexts.push(context)
    if (token)
      await context.addCookies([{ name: 'belfry_session', value: token, url, httpOnly: true, sameSite: 'Lax' }])
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    const report = (text: string) => expected?.test(text) || problems.push(text)
    page.on('console', message => {
      if (/^(error|warning)$/.test(message.type())) report(`${message.text()} ${message.location().url}`)
    })
    page.on('pageerror', error => report(String(error)))
    page.on('request', request => {
      if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== url)
        report(`request: ${request.url()}`)
    })
    return page
  }
  stage.ownerPage = options => stage.newPage({ ...options, token: stage.belfry.caller.token })
  stage.mailedLink = async (address, subject = /./) => {
    const [mail] = await waitFor(
      async () => stage.mailServer.mails.filter(mail => mail.to.includes(address) && subject.test(mail.subject)),
      mails => mails.length > 0,
      60_000,
    )
    const { pathname, hash } = new URL(/http:\/\/[\w.]+:\d+\/[\w-]+#[\w-]{43}/.exec(mail?.text ?? '')?.[0] ?? '')
    return pathname + hash
  }
  stage.enterNewWorkspace = async () => {
    const { url, caller } = stage.belfry
    Object.assign(caller, await createWorkspace(url, caller))
  }
  stage.home = async () => {
    const { belfry } = stage
    const { body } = await belfry.call('GET', `/api/v1/organizations/${belfry.caller.organizationId}`)
    return `/${body.slug}/w/${belfry.caller.workspaceId}`
  }
  return stage
}

/** Returns the installation of this worker, with a new user, organization and workspace as the default caller. */
async function shareInstallation(): Promise<Installation> {
  // Passkeys belong to a host name.
  ofWorker ??= install({ env: { OPERATORS: operatorEmail } }, 'localhost')
  const { belfry, mailServer } = await ofWorker
  const caller = await belfry.anotherCaller()
  const call: Belfry['call'] = (method, path, body, as = caller) => belfry.call(method, path, body, as)
  return { belfry: { ...belfry, caller, call }, mailServer }
}

async function install({ env = {}, services = ['all-in-one'] }: OwnInstallation, hostname = '127.0.0.1') {
  const mailServer = await startMailServer()
  const given = typeof env === 'function' ? await env() : env
  const all = { SMTP_URL: mailServer.url, MAIL_FROM: 'Belfry <belfry@example.com>', ...given }
  return { belfry: await startBelfry('postgres', { services, env: all, hostname }), mailServer }
}
