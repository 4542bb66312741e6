import { hostIsVisiblyBlocked } from '@belfry/domain/address'
import { checkTargetUrl, parseUrl } from '@belfry/domain/target-url'
import { isTopic } from '@belfry/domain/topic'
import type { Context } from '../../context.ts'
import { badRequest, notOffered } from '../qstash-error.ts'

/** Where a message goes: to a URL, or to the endpoints of a URL group. */
export type Destination = { url: string } | { group: string }

/**
 * Reads the destination in a path or a batch. A URL stays as it was sent, because receivers verify it to the letter; only an
 * escaped URL is decoded, and a slash that a proxy has removed after the scheme is restored.
 */
export function readDestination(ctx: Pick<Context, 'config'>, sent: string): Destination {
  if (sent === '') throw badRequest('the destination is missing')
  if (/^api\/(llm|email)\b/.test(sent))
    throw notOffered('Belfry has no provider APIs: publish to the URL of the provider.')
  const text = /^https?%3A/i.test(sent) ? decode(sent) : sent
  if (!/^https?:\//i.test(text)) return readGroup(text)
  const url = text.replace(/^(https?:\/)(?=[^/])/i, '$1/')
  checkUrl(ctx, url)
  return { url }
}

/** Checks the URL of a destination, an endpoint or a callback. */
export function checkUrl({ config }: Pick<Context, 'config'>, url: string): void {
  const problem = checkTargetUrl(url)
  if (problem !== null) throw badRequest(`invalid destination url: ${problem}`)
  if (hostIsVisiblyBlocked(parseUrl(url)?.hostname ?? '', config.allowedPrivateTargets)) {
    throw badRequest('invalid destination url: it has a private address, which this installation does not call')
  }
}

function readGroup(sent: string): Destination {
  const group = decode(sent)
  if (isTopic(group)) return { group }
  throw badRequest(
    'invalid destination: it is neither a URL that starts with http:// or https:// nor the name of a URL group',
  )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw badRequest('invalid destination: its escapes are not valid')
  }
}
