import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import type { OpenConnection } from '@belfry/db/connections/connections'
import { readClientKey } from '@belfry/vault'
import { LRUCache } from 'lru-cache'
import { tlsRules } from './connect.ts'
import type { Sender } from './send.ts'

/** Senders with the certificates of connections. Each has its own sockets, so other calls cannot use them. */
export type TlsSenders = ReturnType<typeof createTlsSenders>

/** OpenSSL does not accept the certificates of a connection, for example because their keys are too short. */
export class CertificateError extends Error {}

// A sender that is evicted finishes its calls, and its idle sockets close by themselves.
const maxSenders = 200

/** @param open - Opens a sender with the address rules of the dispatcher. */
export function createTlsSenders(open: (secureContext: SecureContext) => Sender) {
  const senders = new LRUCache<string, Sender, OpenConnection>({
    max: maxSenders,
    memoMethod: (_key, _old, { context: connection }) => open(openSecureContext(connection)),
  })
  return {
    /**
     * Returns the sender of a connection; null when it has no certificates.
     * @throws CertificateError
     */
    of(connection: OpenConnection): Sender | null {
      const { id, version, settings } = connection
      if (settings.caCertificate === undefined && settings.clientCertificate === undefined) return null
      return senders.memo(`${id} ${version}`, { context: connection })
    },
    async close(): Promise<void> {
      await Promise.all([...senders.values()].map(sender => sender.close()))
    },
  }
}

function openSecureContext({ settings, secrets }: OpenConnection): SecureContext {
  const { caCertificate, clientCertificate } = settings
  const trusted = caCertificate === undefined ? {} : { ca: [...rootCertificates, caCertificate] }
  const shown = clientCertificate === undefined ? {} : { cert: clientCertificate, key: secrets.clientKey }
  try {
    // The key may have been stored before the API had this rule.
    if (shown.key) readClientKey(shown.key)
    return createSecureContext(Object.assign({}, tlsRules, trusted, shown))
  } catch (cause) {
    throw new CertificateError('The certificates of the connection cannot be used.', { cause })
  }
}
