import { loadConfig } from '@belfry/dispatcher/config'
import { createOwnListeners, createResolver, createSender } from '@belfry/dispatcher/egress'
import { parseUrl } from '@belfry/domain/target-url'
import { version } from '@belfry/domain/version'
import type { Environment } from '../../config.ts'
import { type Observation, ok, problem, warning } from '../finding.ts'

const timeoutMs = 10_000

const advices: Partial<Record<string, string>> = {
  blocked_address:
    'Belfry calls public addresses only, none of BLOCKED_TARGETS, and none of its own ports. Open a private range with ALLOWED_PRIVATE_TARGETS: docs/security.md.',
  dns: 'DNS of this machine does not know the name. Correct the URL or the resolver.',
  tls: 'Renew the certificate of the target, or send its whole chain.',
  connection_refused: 'No server listens there. Start it, or correct the port.',
  timeout: 'A firewall may drop the packets, or the target is slow. Check the way from this machine.',
}

/** Calls a target with `HEAD`, by the rules and through the proxy of the dispatcher, from this machine. */
export async function checkTarget(url: string, env: Environment): Promise<Observation[]> {
  const parsed = parseUrl(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    return [problem('The target is not an http or https URL.', 'Use --target https://example.com/path.')]
  }
  const { allowedPrivateTargets, blockedTargets, ownListeners, egressProxy: proxy } = loadConfig(env)
  const resolve = createResolver()
  const listeners = createOwnListeners(ownListeners, resolve)
  await listeners.refresh()
  const sender = createSender({ allowedPrivateTargets, blockedTargets, listeners, proxy, resolve })
  // The path and the query may hold a token.
  const place = parsed.origin
  try {
    const headers = { 'user-agent': `Belfry/${version}` }
    const outcome = await sender.send({ url, method: 'HEAD', headers, body: null, timeoutMs })
    if (outcome.kind === 'unsent')
      return [problem(`The target ${place} was not called: ${outcome.message}`, 'Correct EGRESS_PROXY_URL.')]
    if (outcome.kind === 'response') return [judgeStatus(place, outcome.status)]
    const advice = advices[outcome.code] ?? 'Look at the target and at the network between.'
    return [problem(`The target ${place} fails with ${outcome.code}: ${outcome.message}`, advice)]
  } finally {
    await sender.close()
  }
}

function judgeStatus(place: string, status: number): Observation {
  if (status < 500) return ok(`the target ${place} answers HEAD with ${status}`)
  return warning(`The target ${place} answers HEAD with ${status}.`, 'Look into the log of the target.')
}
