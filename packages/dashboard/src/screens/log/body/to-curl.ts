import type { RunDetail } from '@belfry/contract'

// curl writes these itself.
const ownHeaders = /^(host|content-length|connection|transfer-encoding)$/i

/** A command that sends the request of a run once more. `--data-raw`, which never reads a file that a body names. */
export function toCurl({ method, url, headers, body }: RunDetail['request']): string {
  const given = Object.entries(headers).filter(([name]) => !ownHeaders.test(name))
  return [
    `curl -X ${method} ${quote(url)}`,
    ...given.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' \\\n  ')
}

// Nothing in single quotes means anything to a shell, except their end.
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
