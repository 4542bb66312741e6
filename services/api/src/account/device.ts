import type { Request } from 'express'

const maxLength = 300

// A browser names those that it resembles as well, so the more particular names come first.
const programs: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Headless)?(Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^belfry-cli\b/, 'Belfry CLI'],
]

const systems: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
]

/** Returns the User-Agent of a request, as it is stored. */
export function agentOf({ headers }: Request): string {
  return (headers['user-agent'] ?? '').slice(0, maxLength)
}

/** Returns a name for the device of a User-Agent, such as "Chrome on Linux". Other programs have their own names. */
export function deviceName(agent: string | null): string {
  if (!agent) return 'Unknown device'
  const first = (list: typeof programs) => list.find(([pattern]) => pattern.test(agent))?.[1]
  const program = first(programs) ?? /^[\w.-]{1,40}/.exec(agent.replace(/^Mozilla\/.*/, ''))?.[0] ?? 'Unknown browser'
  const system = first(systems)
  return system === undefined ? program : `${program} on ${system}`
}
