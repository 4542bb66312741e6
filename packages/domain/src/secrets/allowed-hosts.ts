import { parseUrl } from '../target-url.ts'

/**
 * Returns a host pattern in one spelling: `api.example.com`, `api.example.com:8443` or `*.example.com` for every
 * name below. Returns null for other text.
 */
export function readHostPattern(text: string): string | null {
  const [, wildcard = '', host = ''] = /^(\*\.)?([^\s/?#@\\*]{1,253})$/.exec(text.trim()) ?? []
  const url = parseUrl(`https://${host}`)
  if (host === '' || url === null || url.hostname === '') return null
  // The parser drops the port of the scheme.
  const port = /:(\d+)$/.exec(host)?.[1]
  if (wildcard !== '' && !/[a-z]/.test(url.hostname)) return null
  return `${wildcard}${url.hostname}${port === undefined ? '' : `:${Number(port)}`}`
}

/** Returns whether the host of a URL matches one of the patterns. A pattern without a port matches every port. */
export function isAllowedHost(patterns: readonly string[], url: string): boolean {
  const parsed = parseUrl(url)
  if (parsed === null) return false
  const hostname = parsed.hostname.replace(/\.$/, '')
  const port = parsed.port || (parsed.protocol === 'https:' ? '443' : '80')
  return patterns.some(pattern => {
    const [, wildcard, host = '', wantedPort = port] = /^(\*)?(.*?)(?::(\d+))?$/.exec(pattern) ?? []
    if (wantedPort !== port) return false
    return wildcard === undefined ? hostname === host : hostname.endsWith(host)
  })
}
