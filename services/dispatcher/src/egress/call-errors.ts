/** The target is at an address that is not called from here. */
export class BlockedAddressError extends Error {}
export class NameResolutionError extends Error {}
/** The target took too long to accept the connection, or to finish the handshake. */
export class ConnectTimeoutError extends Error {}
/** Its cause is the error of the handshake. */
export class TlsError extends Error {}
/** The egress proxy itself does not work; its cause says why. Nothing has been sent to the target. */
export class ProxyError extends Error {}
/** The egress proxy works, and has answered that it does not connect to the target; the message says so. */
export class TunnelRefusedError extends Error {}
/** The time for the whole call is over. */
export class DeadlineError extends Error {}
/** The target closed a kept connection as it was used again, before any byte of a response; its cause says how. */
export class StaleConnectionError extends Error {}
export class InvalidResponseError extends Error {}
export class InvalidRequestError extends Error {}
