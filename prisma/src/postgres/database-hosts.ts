const form = /^(?<scheme>postgres(?:ql)?:\/\/)(?:(?<login>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<rest>.*)$/s
const accepted = ['read-write', 'primary']

/**
 * Returns one URL for each host of a database URL. Of several hosts, as in `postgresql://user:password@one:5432,two/name`, one
 * is the primary.
 * @throws Error that does not show the URL, because it may hold a password.
 */
export function urlsOfHosts(databaseUrl: string): string[] {
  const { scheme = '', login, hosts = '', rest = '' } = form.exec(databaseUrl)?.groups ?? {}
  const urls = hosts.split(',').map(host => `${scheme}${login === undefined ? '' : `${login}@`}${host}${rest}`)
  if (!hosts.includes(',')) return [databaseUrl]
  if (hosts.split(',').includes('') || !urls.every(url => URL.canParse(url))) {
    throw new Error('DATABASE_URL has a malformed host.')
  }
  const wanted = new URL(urls[0] ?? '').searchParams.get('target_session_attrs')
  if (wanted !== null && !accepted.includes(wanted)) {
    throw new Error('DATABASE_URL has several hosts, so its target_session_attrs must be read-write.')
  }
  return urls
}
