import type { RunDetail } from '@belfry/contract/run'

// curl sets these itself.
const ownHeaders = /^(host|content-length|connection|transfer-encoding)$/i

/** Returns a command that repeats the request of a run. `--data-raw` never reads a file that the body names. */
export function toCurl({ method, url, headers, body, body_encoding }: RunDetail['request']): string {
  const given = Object.entries(headers).filter(([name]) => !ownHeaders.test(name))
  const decoder = body_encoding === 'base64' ? `printf %s ${quote(body ?? '')} | base64 -d | ` : ''
  return [
    `${decoder}curl -X ${method} ${quote(url)}`,
    ...given.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === null ? [] : [decoder ? '--data-binary @-' : `--data-raw ${quote(body)}`]),
  ].join(' \\\n  ')
}

// Within single quotes a shell interprets only the closing quote.
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
