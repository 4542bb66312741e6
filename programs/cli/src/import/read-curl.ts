import { parseArgs } from 'node:util'
import { ImportRefusal, type Request } from './entry.ts'
import { curl, type ProgramOptions } from './program-options.ts'

export type CurlRequest = Request & {
  timeout_ms?: number | undefined
  retry?: object | undefined
  /** Differences from curl. */
  notes: string[]
}

export type Given = { name: string; value: string }

/** Parses the arguments of curl. Throws for options that Belfry cannot replace. */
export function readCurl(args: readonly string[]): CurlRequest {
  const { given, urls } = parseOptions(curl, args)
  return toRequest(given, urls)
}

/** Converts options of curl, with their long names, to a request. */
export function toRequest(given: readonly Given[], urls: readonly string[]): CurlRequest {
  const all = (...names: string[]) => given.filter(({ name }) => names.includes(name))
  const last = (...names: string[]) => all(...names).at(-1)?.value
  const notes = notesOn(curl, given)
  const { headers, notes: headerNotes } = readHeaders(given)
  const data = readData(given)
  const [written, ...others] = [...urls, ...all('url').map(({ value }) => value)]
  if (written === undefined) throw new ImportRefusal('It has no URL.')
  if (others.length > 0) throw new ImportRefusal('It calls several URLs; use one line for each.')
  const { url, credentials } = readUrl(written, notes, all('globoff').length > 0)
  const basic = last('user') ?? credentials
  if (basic !== undefined) {
    setHeader(headers, 'Authorization', `Basic ${Buffer.from(basic).toString('base64')}`)
    notes.push('the secret of its Authorization header is user:password in base64')
  }
  const asQuery = all('get').length > 0 && data !== null
  const body = asQuery ? null : (data?.text ?? null)
  if (body !== null && data) setHeader(headers, 'Content-Type', data.type, 'keep')
  return {
    url: asQuery ? `${url}${url.includes('?') ? '&' : '?'}${data.text}` : url,
    method: methodOf(last('request'), all('head').length > 0, body !== null),
    headers,
    body,
    timeout_ms: millisecondsOf(last('max-time')),
    retry: retryOf(last('retry'), last('retry-delay')),
    notes: [...new Set([...notes, ...headerNotes])],
  }
}

/** Parses the arguments of a program. Throws for options that Belfry cannot replace. */
export function parseOptions(
  { program, understood, tolerated }: ProgramOptions,
  args: readonly string[],
): { given: Given[]; urls: string[] } {
  const shorts = { ...Object.fromEntries(Object.keys(tolerated).map(name => [name, ''])), ...understood }
  const options = Object.fromEntries(
    Object.entries(shorts).map(([name, short]) => {
      const type = name.endsWith('=') ? ('string' as const) : ('boolean' as const)
      return [name.replace('=', ''), { type, multiple: true, ...(short ? { short } : {}) }]
    }),
  )
  try {
    const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true, tokens: true })
    return {
      given: tokens.flatMap(token =>
        token.kind === 'option' ? [{ name: longName(token.name), value: token.value ?? '' }] : [],
      ),
      urls: tokens.flatMap(token => (token.kind === 'positional' ? [token.value] : [])),
    }
  } catch (error) {
    const option = /'(-[^' ]+)/.exec(error instanceof Error ? error.message : '')?.[1]
    throw new ImportRefusal(
      option ? `The option ${option} of ${program} is not supported.` : 'Its options are invalid.',
    )
  }
}

export function notesOn({ tolerated }: ProgramOptions, given: readonly Given[]): string[] {
  return given.flatMap(({ name }) => tolerated[name] || tolerated[`${name}=`] || [])
}

function longName(name: string): string {
  return { 'data-ascii': 'data', 'data-binary': 'data' }[name] ?? name
}

function readHeaders(given: readonly Given[]): { headers: Record<string, string>; notes: string[] } {
  const headers: Record<string, string> = {}
  const notes: string[] = []
  for (const { name, value } of given) {
    if (name === 'header') {
      if (value.startsWith('@')) throw new ImportRefusal('It reads headers from a file.')
      const [, field, text = ''] = /^([^:;]+)(?::\s*(.*)|;)$/s.exec(value) ?? []
      if (field === undefined) throw new ImportRefusal(`The header ${value} has no colon.`)
      if (text === '' && value.endsWith(':')) notes.push(`curl omits the header ${field}; Belfry does not`)
      else setHeader(headers, field.trim(), text.trim())
    }
    if (name === 'user-agent') setHeader(headers, 'User-Agent', value)
    if (name === 'referer') setHeader(headers, 'Referer', value)
    if (name === 'oauth2-bearer') setHeader(headers, 'Authorization', `Bearer ${value}`)
    if (name === 'cookie') {
      if (!value.includes('=')) throw new ImportRefusal('It reads cookies from a file.')
      setHeader(headers, 'Cookie', value)
    }
    if (name === 'json') setHeader(headers, 'Accept', 'application/json', 'keep')
  }
  return { headers, notes }
}

function setHeader(headers: Record<string, string>, name: string, value: string, before?: 'keep'): void {
  const present = Object.keys(headers).find(one => one.toLowerCase() === name.toLowerCase())
  if (present !== undefined && before === 'keep') return
  headers[present ?? name] = value
}

// Like curl: joins pieces with &, and the pieces of --json without a separator.
function readData(given: readonly Given[]): { text: string; type: string } | null {
  const pieces = given.filter(({ name }) => ['data', 'data-raw', 'data-urlencode', 'json'].includes(name))
  if (pieces.length === 0) return null
  for (const { name, value } of pieces) {
    const isFile = value.startsWith('@') || (name === 'data-urlencode' && /^[^=]*@/.test(value))
    if (name !== 'data-raw' && isFile) throw new ImportRefusal('It reads its body from a file at every call.')
  }
  const isJson = pieces.every(({ name }) => name === 'json')
  return {
    text: pieces
      .map(({ name, value }) => (name === 'data-urlencode' ? urlEncoded(value) : value))
      .join(isJson ? '' : '&'),
    type: isJson ? 'application/json' : 'application/x-www-form-urlencoded',
  }
}

function urlEncoded(text: string): string {
  const at = text.indexOf('=')
  if (at < 0) return encodeURIComponent(text)
  return `${text.slice(0, at)}${at === 0 ? '' : '='}${encodeURIComponent(text.slice(at + 1))}`
}

function readUrl(written: string, notes: string[], isLiteral: boolean): { url: string; credentials?: string } {
  if (!isLiteral && /[[\]{}]/.test(written.replace(/\/\/\[[^\]]*\]/, '//'))) {
    throw new ImportRefusal('The brackets in its URL make curl call several URLs.')
  }
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(written)
  if (!hasScheme) notes.push('the URL has no scheme, so it uses http:// as in curl')
  const [url = ''] = (hasScheme ? written : `http://${written}`).split('#')
  const [, scheme, credentials, rest] = /^(https?:\/\/)([^/?]*)@(.*)$/is.exec(url) ?? []
  if (credentials === undefined) return { url }
  return { url: `${scheme}${rest}`, credentials: decodeURIComponent(credentials) }
}

function methodOf(asked: string | undefined, isHead: boolean, hasBody: boolean): string {
  return (isHead ? 'HEAD' : (asked ?? (hasBody ? 'POST' : 'GET'))).toUpperCase()
}

/** Returns the time limit of an attempt that an option or a program sets. */
export function millisecondsOf(seconds: string | number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000)
}

function retryOf(times: string | undefined, seconds: string | undefined): object | undefined {
  if (times === undefined) return undefined
  const base_delay_ms = Number(seconds ?? 0) * 1000
  const isKept = base_delay_ms >= 1_000 && base_delay_ms <= 3_600_000
  return { max_retries: Number(times), ...(isKept ? { backoff: 'fixed', base_delay_ms } : {}) }
}
