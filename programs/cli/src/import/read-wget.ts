import { wget } from './program-options.ts'
import { type CurlRequest, type Given, notesOn, parseOptions, toRequest } from './read-curl.ts'

/** Parses the arguments of wget as the options of curl that mean the same. */
export function readWget(args: readonly string[]): CurlRequest {
  const { given, urls } = parseOptions(wget, args)
  const last = (...names: string[]) => given.findLast(({ name }) => names.includes(name))?.value
  const user = last('user', 'http-user')
  const translated = given.flatMap(({ name, value }): Given[] => {
    if (name === 'tries') return [{ name: 'retry', value: retriesOf(value) }]
    if (name === 'timeout' && Number(value) === 0) return []
    const same = wget.sameInCurl[name]
    return same === undefined ? [] : [{ name: same, value }]
  })
  if (user !== undefined) translated.push({ name: 'user', value: `${user}:${last('password', 'http-password') ?? ''}` })
  const notes = notesOn(wget, given)
  // wget follows redirects without an option, and takes brackets literally.
  translated.push({ name: 'location', value: '' }, { name: 'globoff', value: '' })
  const request = toRequest(translated, urls)
  return { ...request, notes: [...new Set([...notes, ...request.notes])] }
}

// wget counts the first attempt; 0 means unlimited.
function retriesOf(tries: string): string {
  const count = Number(tries)
  return count > 0 ? String(Math.min(20, count - 1)) : '20'
}
