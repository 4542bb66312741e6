import { type MailServer, type Receiver, startMailServer, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type Belfry, startBelfry } from '../belfry.ts'
import type { ProgramName } from '../processes.ts'
import { launchBrowser } from './browser.ts'

export const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const

export type Stage = {
  belfry: Belfry
  receiver: Receiver
  /** Receives every email of the installation. */
  mailServer: MailServer
  /** Opens a page in a new browser context. The test fails on console errors and on requests to other hosts. */
  newPage(options?: NewPageOptions): Promise<Page>
  /** Opens a page signed in as the owner of the first workspace. */
  ownerPage(options?: NewPageOptions): Promise<Page>
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

/** Starts the real stack and a browser for the tests of one file. Call it in a `describe`. */
export function useStage(
  env: Environment | (() => Promise<Environment>) = {},
  services: ProgramName[] = ['all-in-one'],
  hostname = '127.0.0.1',
): Stage {
  let browser: Browser | undefined
  const contexts: BrowserContext[] = []
  let problems: string[] = []
  const stage = {} as Stage // filled before the first test

  beforeAll(async () => {
    const mailServer = await startMailServer()
    stage.mailServer = mailServer
    const mailing = { SMTP_URL: mailServer.url, MAIL_FROM: 'Belfry <belfry@example.com>' }
    const given = typeof env === 'function' ? await env() : env
    const [belfry, receiver, started] = await Promise.all([
      startBelfry('postgres', { services, env: { ...mailing, ...given }, hostname }),
      startReceiver(),
      launchBrowser(),
    ])
    browser = started
    Object.assign(stage, { belfry, receiver })
  }, 120_000)

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(context => context.close()))
    const found = problems
    problems = []
    expect(found, 'console messages and outside requests').toEqual([])
  })

  afterAll(async () => {
    await Promise.all([browser?.close(), stage.belfry?.close(), stage.receiver?.close(), stage.mailServer?.close()])
  })

  stage.newPage = async ({ size = 'wide', theme = 'light', token, expected } = {}) => {
    if (!browser) throw new Error('The browser is started before the first test.')
    const { url } = stage.belfry
    const context = await browser.newContext({
      baseURL: url,
      viewport: sizes[size],
      colorScheme: theme,
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
  stage.home = async () => {
    const { belfry } = stage
    const { body } = await belfry.call('GET', `/api/v1/organizations/${belfry.caller.organizationId}`)
    return `/${body.slug}/w/${belfry.caller.workspaceId}`
  }
  return stage
}
