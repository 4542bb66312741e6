import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

// The shell has no window of its own and takes a third less CPU time.
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const executablePath = process.env.CHROMIUM_PATH ?? installed.find(path => existsSync(path))

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let ofWorker: Promise<Browser> | undefined

/** Returns the Chromium of this worker. It ends with the worker, because its pipe closes. */
export function workerBrowser(): Promise<Browser> {
  ofWorker ??= launchBrowser()
  return ofWorker
}

/** Starts the installed Chromium. */
export async function launchBrowser(): Promise<Browser> {
  if (!executablePath || !existsSync(executablePath)) {
    throw new Error('There is no Chromium: apt-get install -y chromium-headless-shell, or set CHROMIUM_PATH.')
  }
  // With a handler of its own, Playwright would keep the worker alive after SIGTERM.
  return chromium.launch({
    executablePath,
    args: flags,
    handleSIGTERM: false,
    handleSIGINT: false,
    handleSIGHUP: false,
  })
}
