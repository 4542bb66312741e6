import { parseUrl } from '@belfry/domain/target-url'
import type { Listener } from './own-listeners.ts'

const defaultPorts: Readonly<Record<string, number>> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
  'smtp:': 587,
  'smtps:': 465,
  'http:': 80,
  'https:': 443,
}

/** Returns the host and the port of a URL; null for a file, a socket or an unknown protocol. */
export function listenerOfUrl(text: string): Listener | null {
  const url = parseUrl(text)
  if (url === null) return null
  const { protocol, hostname, port, searchParams } = url
  // URLs of PostgreSQL may have the host and the port as parameters.
  const host = searchParams.get('host') || decodeURIComponent(hostname).replace(/^\[|\]$/g, '')
  const number = Number(searchParams.get('port') || port) || defaultPorts[protocol]
  return host === '' || host.startsWith('/') || number === undefined ? null : { host, port: number }
}

/**
 * Parses `host:port` entries separated by commas.
 * @throws Error that names the first malformed entry.
 */
export function parseListeners(text: string): Listener[] {
  if (text.trim() === '') return []
  return text.split(',').map(entry => {
    const [, host = '', digits = ''] = /^([\w.-]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(entry.trim()) ?? []
    const listener = listenerOfUrl(`tcp://${host}:${digits}`)
    if (listener !== null && digits !== '') return listener
    throw new Error(`"${entry.trim()}" is not a place such as api.internal:3000 or [fd00::1]:3000.`)
  })
}
