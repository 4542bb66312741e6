import { createSecureContext, rootCertificates, type SecureContext, type SecureContextOptions } from 'node:tls'
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
  const senders = new LRUCache<string, Sender>({ max: maxSenders })
  return {
    /**
     * Returns the sender of a connection; null when it has no certificates.
     * @throws CertificateError
     */
    of(connection: OpenConnection): Sender | null {
      const { id, version, settings, secrets } = connection
      const { caCertificate, clientCertificate } = settings
      if (caCertificate === undefined && clientCertificate === undefined) return null
      const key = `${id} ${version}`
      const known = senders.get(key)
      if (known) return known
      const sender = open(
        openSecureContext(
          Object.assign(
            {},
            tlsRules,
            caCertificate === undefined ? {} : { ca: [...rootCertificates, caCertificate] },
            clientCertificate === undefined ? {} : { cert: clientCertificate, key: secrets.clientKey },
          ),
        ),
      )
      senders.set(key, sender)
      return sender
    },
    /** Aborts the calls in flight and closes all sockets. */
    async close(): Promise<void> {
      await Promise.all([...senders.values()].map(sender => sender.close()))
    },
  }
}

function openSecureContext(options: SecureContextOptions): SecureContext {
  try {
    // The key may have been stored before the API had this rule.
    if (options.key) readClientKey(String(options.key))
    return createSecureContext(options)
  } catch (cause) {
    throw new CertificateError('The certificates of the connection cannot be used.', { cause })
  }
}
